import { createSessionCache, type SessionCache } from '../../src/access/sessions/session-cache.ts'
import type { Change, FeedMark } from '../../src/store/db/changes.ts'
import { isWaitTooLong } from '../../src/store/engine/unavailable.ts'
import { patiently } from '../../src/store/feed/patience.ts'
import { waitForConfirmation } from '../../src/store/feed/confirmation.ts'
import { ChangeFeed } from '../../src/store/feed/feed.ts'
import { NodeRegistration, standsAlone } from '../../src/store/feed/node-registration.ts'
import type { SessionWithUser } from '../../src/store/index.ts'
import type { SimDatabase, World } from './fleet-world.ts'

/**
 * Fixes that can be removed, to prove that the simulation finds the defect that each of them repairs:
 * - Without `history`, the feed compares only sequence numbers.
 * - Without `clock`, whether a node counts as alive depends on each node's wall clock.
 * - Without `locks`, a stalled process keeps its lock for 10 s, and a transaction that waits for 5 s is refused.
 * - Without `settling`, a change is confirmed while nodes may still trust what they read from the previous database.
 * - Without `lost`, a change that has vanished from the database counts as confirmed.
 */
export const mends = ['history', 'clock', 'locks', 'settling', 'lost'] as const
export type Mend = (typeof mends)[number]

const requestTimeoutMs = 5000

export interface Surroundings {
  readonly world: World
  readonly without: Mend | undefined
  readonly hints: ((mark: FeedMark) => unknown)[]
  readonly anyChange: Change
  readonly database: SimDatabase
  token(): string
  wayMs(): number
  tell(change: Change): void
  lockFor(database: SimDatabase, owner: object, maxMs: number): Promise<void>
}

/** A process that uses the database over a network that may cut it off, on a machine that may suspend it. */
class SimProcess {
  readonly name: string
  readonly fleet: Surroundings
  isPaused = false
  isDead = false
  isCut = false
  /** The offset of the process's wall clock, in milliseconds. */
  skewMs = 0
  /** Suspends the process or cuts it off in the middle of its next transaction, while it holds a lock. */
  stopsInWork: (() => unknown) | undefined
  readonly startedAt: number
  connectedTo: SimDatabase | undefined
  onOther: () => void = () => undefined
  /** When the process was last paused, cut off or given another clock, or last recovered from that. */
  disturbedAt = Number.NEGATIVE_INFINITY
  #held: (() => void)[] = []

  constructor(fleet: Surroundings, name: string) {
    this.fleet = fleet
    this.name = name
    this.startedAt = fleet.world.now
  }

  readonly clock = {
    now: (): number => 1_800_000_000_000 + this.fleet.world.now + this.skewMs,
    monotonic: (): number => this.fleet.world.now - this.startedAt + 1_000_000,
  }

  readonly timers = {
    after: (ms: number, call: () => void): (() => void) => this.after(ms, call),
    every: (ms: number, call: () => void): (() => void) => {
      let isOver = false
      const again = (): void => {
        if (isOver) return
        call()
        this.after(ms, again)
      }
      this.after(ms, again)
      return () => void (isOver = true)
    },
    soon: (call: () => void): void => void this.after(0, call),
  }

  /** Schedules a callback; it never runs if the process is dead by then, and waits while the process is suspended. */
  after(ms: number, call: () => void): () => void {
    return this.fleet.world.schedule(ms, () => this.#comeTo(call))
  }

  #comeTo(call: () => void): void {
    if (this.isDead) return
    if (this.isPaused) this.#held.push(call)
    else call()
  }

  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.after(ms, resolve))
  }

  resume(): void {
    this.isPaused = false
    for (const call of this.#held.splice(0)) this.after(0, call)
  }

  /** Sends a request to the database; it may take effect although its response is lost. */
  async ask<T>(effect: (database: SimDatabase) => T | Promise<T>): Promise<T> {
    const { world } = this.fleet
    return await new Promise<T>((resolve, reject) => {
      const giveUp = this.after(requestTimeoutMs, () => reject(new Error('query read timeout')))
      const end = (call: () => void): void => {
        giveUp()
        call()
      }
      const answer = (call: () => void): void => {
        world.schedule(this.fleet.wayMs(), () => {
          if (!this.isCut) this.#comeTo(() => end(call))
        })
      }
      const fail = (): void => answer(() => reject(new Error('connection terminated')))
      world.schedule(this.fleet.wayMs(), () => {
        // A request that was sent arrives even if its sender is suspended in the meantime.
        if (this.isCut || this.isDead) return
        const { database } = this.fleet
        if (!database.isAlive) return fail()
        this.#connect(database)
        const isGone = (): boolean => this.fleet.database !== database || !database.isAlive
        void (async () => await effect(database))().then(
          (result) => (isGone() ? fail() : answer(() => resolve(result))),
          (error: unknown) => (isGone() ? fail() : answer(() => reject(error))),
        )
      })
    })
  }

  #connect(database: SimDatabase): void {
    if (this.connectedTo === database) return
    const isFirst = this.connectedTo === undefined
    this.connectedTo = database
    database.greet(this.fleet.world.now)
    if (!isFirst && this.fleet.without !== 'history') this.after(0, () => this.onOther())
  }
}

/** Runs the real feed and session cache on a simulated database, as a node or as a command. */
export class SimNode extends SimProcess {
  readonly feed: ChangeFeed
  readonly sessions: SessionCache
  readonly registration: NodeRegistration | undefined
  readonly serves: boolean

  constructor(fleet: Surroundings, name: string, serves: boolean) {
    super(fleet, name)
    this.serves = serves
    this.registration = serves
      ? new NodeRegistration({
          ...{ clock: this.clock, timers: this.timers },
          book: {
            beat: async (seen, isLooking) =>
              await this.ask((database) => {
                const wasThere = this.#beat(database, seen)
                const others = database.rows().filter((row) => row.id !== name)
                return { wasThere, others: isLooking ? others : undefined }
              }),
            remove: async ({ id, beat }) =>
              await this.ask((database) => {
                if (database.rows().find((row) => row.id === id)?.beat === beat) {
                  database.nodes.delete(id)
                }
              }),
            leave: async () => undefined,
          },
        })
      : undefined
    this.feed = new ChangeFeed({
      changesInTurn: 2,
      clock: this.clock,
      timers: this.timers,
      standing: this.registration ?? standsAlone,
      source: {
        pace: { pollMs: 200, idlePollMs: 600, restPollMs: 2000 },
        hasForeignCommit: async () => true,
        read: async (from, limit) =>
          await this.ask((database) => this.#read(database, from, limit)),
        head: async () => await this.ask((database) => this.#head(database)),
        listen: (onHint) => {
          fleet.hints.push((mark) => !this.isDead && this.after(0, () => onHint(mark)))
        },
      },
    })
    this.onOther = () => this.feed.doubt()
    this.sessions = createSessionCache({
      feed: this.feed,
      capacity: 1000,
      read: async (id) => await this.ask((database) => sessionOf(database, id)),
    })
    this.registration?.start(() => this.feed.mark())
    this.feed.onForeign(() => void this.registration?.beat().catch(() => undefined))
  }

  async start(): Promise<void> {
    for (;;) {
      try {
        return await this.feed.start()
      } catch {
        await this.wait(250)
      }
    }
  }

  end(): void {
    this.isDead = true
    this.feed.stop()
  }

  #beat(database: SimDatabase, seen: FeedMark): boolean {
    const row = database.nodes.get(this.name)
    const beats = (row?.beats ?? 0) + 1
    database.nodes.set(this.name, { beats, heartbeatAt: this.clock.now(), seen: { ...seen } })
    return row !== undefined
  }

  #read(database: SimDatabase, from: FeedMark, limit: number) {
    const { server } = database
    if (this.fleet.without !== 'history') {
      return { server, changes: database.from(from.sequence, limit) }
    }
    // Without `history`, nodes compare only sequence numbers. So pretend that the database still has the change which
    // the node read last, even if the database has been replaced.
    const newer = database.from(from.sequence + 1, limit)
    const at = { ...(database.changes[0] ?? this.fleet.anyChange), ...from }
    const known = from.sequence === 0 ? newer : [at, ...newer]
    return { server: sameServer, changes: known.slice(0, limit) }
  }

  #head(database: SimDatabase) {
    const { sequence, token } = database.changes.at(-1) ?? { sequence: 0, token: '' }
    const server = this.fleet.without === 'history' ? sameServer : database.server
    return { server, mark: { sequence, token } }
  }

  /** Tells whether a call with this session is allowed; asks the cache, or the database if the cache can't tell. */
  async lets(id: string): Promise<boolean> {
    const known = this.sessions.peek(id) ?? (await this.sessions.peekProven(id))
    if (known !== undefined) return known.endedAt === undefined
    const found = await this.sessions.read(id)
    return found !== undefined && found.endedAt === undefined
  }

  /** Revokes a session as `transactionConfirmed` would; returns the database in which the change was confirmed. */
  async revoke(id: string): Promise<SimDatabase> {
    const change = await patiently(
      {
        clock: this.clock,
        isAnswering: async () => await this.feed.prove(1000),
        isWaitTooLong,
        maxMs: 15_000,
      },
      async () => await this.commit((database) => database.revoked.add(id), id),
    )
    this.feed.heardOwn([change])
    let looked = this.fleet.database
    await waitForConfirmation({
      look: async (of) =>
        await this.ask((database) => {
          looked = database
          return this.#look(database, of)
        }),
      clock: this.clock,
      wait: async (ms) => await this.wait(ms),
      self: this.serves ? this.name : undefined,
      change,
    })
    return looked
  }

  /** Runs a transaction: takes the organization's lock, then writes and commits in one message. */
  async commit(write: (database: SimDatabase) => void, id: string): Promise<Change> {
    const owner = {}
    const { fleet } = this
    const isMended = fleet.without !== 'locks'
    const database = await this.ask(async (at) => {
      await fleet.lockFor(at, owner, isMended ? 1500 : 5000)
      // A process that stalls while it holds the lock loses the lock.
      fleet.world.schedule(isMended ? 500 : 10_000, () => at.unlock(owner))
      this.stopsInWork?.()
      this.stopsInWork = undefined
      return at
    })
    return await this.ask((at) => {
      if (at !== database || !at.holds(owner)) throw withCode('25P03')
      write(at)
      const change = at.append('session', id, fleet.token())
      at.unlock(owner)
      fleet.tell(change)
      return change
    })
  }

  #look(database: SimDatabase, change: Change | undefined) {
    const { without, world } = this.fleet
    const rows = database.rows()
    const nodes =
      without === 'clock'
        ? rows.filter(({ beat }) => Number(beat.split(' ')[0]) >= this.clock.now() - 15_000)
        : rows
    return {
      nodes:
        without === 'history' ? nodes.map((row) => ({ ...row, isOfThisHistory: true })) : nodes,
      hasChange:
        change === undefined || ['lost', 'history'].includes(without ?? '') || database.has(change),
      unsettledMs:
        without === 'settling' || without === 'history'
          ? 0
          : Math.max(0, 1100 - (world.now - database.since)),
    }
  }
}

const sameServer = { identity: 'one', startedAt: '' }

function sessionOf(database: SimDatabase, id: string): SessionWithUser {
  const endedAt = database.revoked.has(id) ? 1 : undefined
  return { id, userId: `usr_${id}`, endedAt } as unknown as SessionWithUser
}

export function withCode(code: string): Error {
  return Object.assign(new Error(`refused with ${code}`), { code })
}
