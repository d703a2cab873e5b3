import { storedChange, type Change, type FeedMark } from '../../src/store/db/changes.ts'
import type { ServerMark } from '../../src/store/db/db.ts'
import type { NodeRow } from '../../src/store/tables/nodes/nodes.ts'

interface Scheduled {
  readonly at: number
  readonly order: number
  /** Undefined once it has been cancelled. */
  call: (() => void) | undefined
}

/** The time and randomness of one simulation. Time jumps from one scheduled callback to the next. */
export class World {
  now = 0
  readonly random: () => number
  #heap: Scheduled[] = []
  #order = 0

  constructor(random: () => number) {
    this.random = random
  }

  /** Schedules a callback; returns a function that cancels it. */
  schedule(ms: number, call: () => void): () => void {
    const item: Scheduled = { at: this.now + Math.max(0, ms), order: (this.#order += 1), call }
    const heap = this.#heap
    let at = heap.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(heap[parent]!, item)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = item
    return () => void (item.call = undefined)
  }

  async run(untilMs: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0]
      if (next === undefined || next.at > untilMs) break
      this.#removeFirst()
      if (next.call === undefined) continue
      this.now = next.at
      next.call()
      // Run the callbacks of all settled promises: `process.nextTick` calls back only when none is left.
      await new Promise<void>((resolve) => process.nextTick(resolve))
    }
    this.now = untilMs
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (isBefore(last, heap[child]!)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

function isBefore(one: Scheduled, other: Scheduled): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

interface SimNodeRow {
  beats: number
  heartbeatAt: number
  seen: FeedMark
}

/** A process that waits for a lock; `got` is called when it gets the lock. */
interface Waiter {
  readonly owner: object
  readonly got: () => void
  isGone: boolean
}

/** The content of a database; standbys and backups are copies of it. */
export class SimDatabase {
  readonly server: ServerMark
  readonly changes: Change[]
  readonly nodes: Map<string, SimNodeRow>
  readonly revoked: Set<string>
  /** The server that a process last connected to. A copy keeps this value until a process connects to the copy. */
  met: string
  /** When a process first connected to that server; -Infinity if the database had no changes then. */
  since: number
  isAlive = true
  #lockOwner: object | undefined
  #waiters: Waiter[] = []

  constructor(from: SimDatabase | undefined, server: ServerMark) {
    this.server = server
    this.changes = from === undefined ? [] : [...from.changes]
    this.nodes = new Map([...(from?.nodes ?? [])].map(([id, row]) => [id, { ...row }]))
    this.revoked = new Set(from?.revoked)
    this.met = from?.met ?? ''
    this.since = from?.since ?? Number.NEGATIVE_INFINITY
  }

  greet(now: number): void {
    const name = `${this.server.identity} ${this.server.startedAt}`
    if (this.met !== name && this.changes.length > 0) this.since = now
    this.met = name
  }

  append(kind: string, subjects: string, token: string): Change {
    const sequence = (this.changes.at(-1)?.sequence ?? 0) + 1
    const change = storedChange({ sequence, token }, { kind, organizationId: 'org_1', subjects })
    this.changes.push(change)
    return change
  }

  /** Finds a change by its sequence number; the numbers have no gaps, so the index follows from the number. */
  #at(sequence: number): Change | undefined {
    return this.changes[sequence - (this.changes[0]?.sequence ?? 0)]
  }

  from(sequence: number, limit: number): Change[] {
    const at = Math.max(0, sequence - (this.changes[0]?.sequence ?? 0))
    return this.changes.slice(at, at + limit)
  }

  has({ sequence, token }: FeedMark): boolean {
    return this.#at(sequence)?.token === token
  }

  rows(): NodeRow[] {
    return [...this.nodes].map(([id, { beats, heartbeatAt, seen }]) => ({
      id,
      beat: `${heartbeatAt} ${beats}`,
      seenSequence: seen.sequence,
      isOfThisHistory: seen.token === '' || this.has(seen),
    }))
  }

  lock(owner: object, got: () => void): Waiter {
    const waiter = { owner, got, isGone: false }
    this.#waiters.push(waiter)
    this.#grant()
    return waiter
  }

  holds(owner: object): boolean {
    return this.#lockOwner === owner
  }

  unlock(owner: object): void {
    if (this.#lockOwner !== owner) return
    this.#lockOwner = undefined
    this.#grant()
  }

  #grant(): void {
    while (this.#lockOwner === undefined) {
      const next = this.#waiters.shift()
      if (next === undefined) return
      if (next.isGone) continue
      this.#lockOwner = next.owner
      next.got()
    }
  }
}
