import type { FeedMark } from '../db/changes.ts'
import type { Clock } from '../../clock.ts'
import type { NodeRow } from '../tables/nodes/nodes.ts'
import type { Timers } from './feed-polls.ts'
import type { Standing } from './feed-deps.ts'

const heartbeatMs = 5000
// A node that cannot write its heartbeat for this long stops trusting its caches.
const standsForMs = 10_000
// A node that sends no heartbeat for this long is removed by the others.
const silentMs = 15_000

/** What a heartbeat found. */
export interface Beaten {
  /** Whether the node's row existed. */
  readonly wasThere: boolean
  /** The other nodes, if they were asked for. */
  readonly others?: readonly NodeRow[] | undefined
}

/** Where nodes record their heartbeats; a simulation in the tests has its own. */
export interface NodeBook {
  /** Records a heartbeat, and lists the other nodes if `isLooking`. */
  beat(seen: FeedMark, isLooking: boolean): Promise<Beaten>
  remove(node: NodeRow): Promise<void>
  leave(): Promise<void>
}

/**
 * This node's registration among the others: it reports that it is alive and how far it has read, and removes dead
 * nodes. Each node measures the others' silence only by its own monotonic clock, so a wrong or jumping clock can't get
 * a live node removed.
 */
export class NodeRegistration implements Standing {
  readonly #book: NodeBook
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #timers: Timers
  readonly #heard = new Map<string, { readonly beat: string; readonly since: number }>()
  #mark: () => FeedMark = () => ({ sequence: 0, token: '' })
  #beatAt = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #forgotten = 0
  /** Only reads that began after registration count: before it, other nodes did not wait for this one. */
  #registeredAt = Number.POSITIVE_INFINITY
  #beating: Promise<void> | undefined
  #again = false
  #isLooking = false
  #look: { readonly others: readonly NodeRow[]; readonly at: number } | undefined
  #stop: () => void = () => undefined

  constructor(deps: { book: NodeBook; clock: Pick<Clock, 'monotonic'>; timers: Timers }) {
    this.#book = deps.book
    this.#clock = deps.clock
    this.#timers = deps.timers
  }

  start(mark: () => FeedMark): void {
    this.#mark = mark
    this.#stop = this.#timers.every(heartbeatMs, () => void this.#turn().catch(() => undefined))
  }

  stop(): void {
    this.#stop()
  }

  /** How many other nodes had sent no heartbeat recently when this node last looked. */
  get silent(): number {
    return [...this.#heard.values()].filter(({ since }) => this.#lookedAt - since > standsForMs)
      .length
  }

  /** How many nodes this one has removed because they sent no heartbeat for 15 s; others may have removed them too. */
  get forgotten(): number {
    return this.#forgotten
  }

  covers(readStartedAt: number, now: number): boolean {
    return readStartedAt >= this.#registeredAt && now - this.#beatAt < standsForMs
  }

  async renew(): Promise<void> {
    this.#registeredAt = Number.POSITIVE_INFINITY
    await this.beat()
  }

  /** Records a heartbeat and how far this node has read; callers that arrive during a heartbeat share the next one. */
  async beat(): Promise<void> {
    this.#again = true
    this.#beating ??= (async () => {
      try {
        while (this.#again) {
          this.#again = false
          await this.#beatOnce()
        }
      } finally {
        this.#beating = undefined
      }
    })()
    await this.#beating
  }

  async #beatOnce(): Promise<void> {
    const startedAt = this.#clock.monotonic()
    const isLooking = this.#isLooking
    this.#isLooking = false
    const { wasThere, others } = await this.#book.beat(this.#mark(), isLooking)
    this.#beatAt = startedAt
    if (others !== undefined) this.#look = { others, at: startedAt }
    if (!wasThere || this.#registeredAt === Number.POSITIVE_INFINITY) {
      this.#registeredAt = this.#clock.monotonic()
    }
  }

  async #turn(): Promise<void> {
    this.#isLooking = true
    await this.beat()
    const look = this.#look
    this.#look = undefined
    if (look === undefined) return
    const { others, at: now } = look
    this.#lookedAt = now
    const ids = new Set(others.map(({ id }) => id))
    for (const id of this.#heard.keys()) if (!ids.has(id)) this.#heard.delete(id)
    for (const node of others) {
      const known = this.#heard.get(node.id)
      if (known?.beat !== node.beat) this.#heard.set(node.id, { beat: node.beat, since: now })
      else if (now - known.since > silentMs) {
        await this.#book.remove(node)
        this.#forgotten += 1
      }
    }
  }
}

/** For a process that serves no requests: no node waits for it, and it trusts only reads from the last second. */
export const standsAlone: Standing = {
  covers: () => true,
  renew: async () => undefined,
}
