import type { Clock, Moment } from '../../clock.ts'
import { isAt, type Change, type ChangeKind, type ChangeOf, type FeedMark } from '../db/changes.ts'
import type { ServerMark } from '../db/db.ts'
import { endOf } from '../../timers.ts'
import { minuteMs } from '../../units.ts'
import type { FeedSource, Standing } from './feed-deps.ts'
import { FeedPolls, systemTimers, type Timers } from './feed-polls.ts'

const trustMs = 1000
const proveWithinMs = 200
const changesInPage = 1000
// After this many changes, calls get a turn: forgetting one of millions of keys takes about 10 µs, and longer until V8 has
// compiled the code.
const changesInTurn = 250
const maxOwn = 10_000
const maxRecent = 2000
// The database keeps changes for an hour; a node that has not read the feed for half an hour starts over.
const resetAfterMs = 30 * minuteMs

/** Reports that the database is now a different server, or that it lacks changes this node has heard. */
export interface HistoryChange {
  /** `server`: a different server that has every change this node heard; `lost`: some of those changes are missing. */
  readonly reason: 'server' | 'lost'
  readonly before: ServerMark & FeedMark
  readonly after: ServerMark & FeedMark
}

/** How a node hears about commits, both its own and those of other nodes. */
export interface Feed {
  /**
   * Calls `heard` for each change of a kind, and `reset` when changes may have been missed, so that everything cached
   * must be dropped.
   */
  on<Kind extends ChangeKind>(
    kind: Kind,
    heard: (change: ChangeOf<Kind>) => void,
    reset: () => void | Promise<void>,
  ): void
  /** Registers a callback that runs when anything that was read from the database before may be wrong. */
  onReset(reset: () => void | Promise<void>): void
  /**
   * Whether the feed was read within the last second and other nodes wait for this one: only then may caches be
   * trusted. A caller may pass a moment that it took after its last await; an older one would make an old feed
   * seem current.
   */
  isCurrent(moment?: Moment): boolean
  /**
   * Like `isCurrent`, but if the feed is not current only because nobody needed it, waits for one read of it, 200 ms
   * at most unless told. It does not count as relying on the feed.
   */
  prove(withinMs?: number): Promise<boolean>
  /** Changes must be heard within a second, even if a notification gets lost, while `isNeeded` returns true. */
  keepAwakeWhile(isNeeded: () => boolean): void
  /** Reads the feed now; rejects if the database does not respond. */
  read(): Promise<void>
}

const nowhere: FeedMark = { sequence: 0, token: '' }
const unknownServer: ServerMark = { identity: '', startedAt: '' }

interface Listener {
  readonly heard: (change: Change) => void
  readonly reset: () => void | Promise<void>
}

/**
 * The feed with the methods that only the store calls. When the database's history turns out to be another one (another
 * server, a restored backup), nothing cached is trusted until all caches have been dropped.
 */
export class ChangeFeed implements Feed {
  readonly #source: FeedSource
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #changesInTurn: number
  readonly #standing: Standing
  readonly #onHistory: (change: HistoryChange) => void
  readonly #listeners = new Map<ChangeKind, Listener[]>()
  readonly #resets: (() => void | Promise<void>)[] = []
  /** Tokens of changes that this process committed but has not yet read from the feed, by sequence number. */
  readonly #own = new Map<number, string>()
  /** Tokens of the most recently read changes, by sequence number. */
  readonly #recent = new Map<number, string>()
  #lastOwn = 0
  #confirm: () => void = () => undefined
  #last = nowhere
  #server = unknownServer
  #isDoubted = true
  /** How often `doubt` was called; a read of the feed during which it was called does not make caches trusted. */
  #doubts = 0
  #readAt = Number.NEGATIVE_INFINITY
  #readAtWall = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #readingSince = Number.NEGATIVE_INFINITY
  #hasFailed = false
  #again = false
  #unread = false
  readonly #polls: FeedPolls

  constructor(deps: {
    source: FeedSource
    clock: Clock
    standing: Standing
    timers?: Timers | undefined
    changesInTurn?: number | undefined
    onHistory?: ((change: HistoryChange) => void) | undefined
  }) {
    this.#source = deps.source
    this.#clock = deps.clock
    this.#standing = deps.standing
    this.#timers = deps.timers ?? systemTimers
    this.#changesInTurn = deps.changesInTurn ?? changesInTurn
    this.#onHistory = deps.onHistory ?? (() => undefined)
    this.#polls = new FeedPolls({
      ...{ clock: this.#clock, timers: this.#timers },
      pace: () => this.#source.pace,
      readAt: () => this.#readAt,
      poll: () => this.#poll(),
    })
  }

  on<Kind extends ChangeKind>(
    kind: Kind,
    heard: (change: ChangeOf<Kind>) => void,
    reset: () => void | Promise<void>,
  ): void {
    const list = this.#listeners.get(kind) ?? []
    // Listeners of a kind only ever receive changes of that kind.
    list.push({ heard: heard as (change: never) => void, reset } as Listener)
    this.#listeners.set(kind, list)
  }

  onReset(reset: () => void | Promise<void>): void {
    this.#resets.push(reset)
  }

  isCurrent(moment?: Moment): boolean {
    const monotonicMs = moment?.monotonicMs ?? this.#clock.monotonic()
    this.#polls.rely(monotonicMs)
    return this.#isTrusted(monotonicMs, moment?.machineMs)
  }

  async prove(withinMs = proveWithinMs): Promise<boolean> {
    const now = this.#clock.monotonic()
    if (!this.#isFresh(now) && !this.#hasFailed) {
      const reading = this.#reading ?? this.read()
      await endOf(reading, this.#timers, this.#readingSince + withinMs - now)
    }
    return this.#isTrusted(this.#clock.monotonic())
  }

  keepAwakeWhile(isNeeded: () => boolean): void {
    this.#polls.keepAwakeWhile(isNeeded)
  }

  /** Milliseconds since the start of the last read that proved the caches valid; Infinity without such a read. */
  ageMs(): number {
    return this.#clock.monotonic() - this.#readAt
  }

  /** How far this node has read; the start of the feed while the database's history is in doubt. */
  mark(): FeedMark {
    return this.#isDoubted ? nowhere : this.#last
  }

  async start(): Promise<void> {
    await this.read()
    this.#source.listen((upTo) => this.#hinted(upTo))
    this.#polls.start()
  }

  stop(): void {
    this.#polls.stop()
  }

  /** Registers a callback that runs after reading changes of other processes, except deliveries. */
  onForeign(confirm: () => void): void {
    this.#confirm = confirm
  }

  /** Tells listeners about this process's own changes, before the promise of their transaction resolves. */
  heardOwn(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.sequence > this.#last.sequence) {
        this.#own.set(change.sequence, change.token)
        this.#lastOwn = Math.max(this.#lastOwn, change.sequence)
      } else if (this.#recent.get(change.sequence) === change.token) {
        // The feed was read just before the commit returned, so listeners already know this change.
        continue
      } else {
        // A new change with an already used number: the history has been rewound.
        this.doubt()
      }
      this.#notify(change)
    }
  }

  /** Called when the database may be a different one. Nothing cached is trusted until the feed has been read anew. */
  doubt(): void {
    this.#doubts += 1
    this.#isDoubted = true
    this.#readAt = Number.NEGATIVE_INFINITY
    this.#poll()
  }

  async read(): Promise<void> {
    if (this.#reading) {
      this.#again = true
      return await this.#reading
    }
    this.#readingSince = this.#clock.monotonic()
    this.#reading = (async () => {
      try {
        do {
          this.#again = false
          await this.#readOnce()
        } while (this.#again)
        this.#hasFailed = false
      } catch (error) {
        this.#hasFailed = true
        throw error
      } finally {
        this.#reading = undefined
      }
    })()
    return await this.#reading
  }

  async #readOnce(): Promise<void> {
    const startedAt = this.#clock.monotonic()
    const startedAtWall = this.#clock.now()
    const isLate = startedAt - this.#readAt > resetAfterMs
    if (this.#isDoubted || isLate) return await this.#startAnew()
    const doubts = this.#doubts
    this.#unread ||= await this.#source.hasForeignCommit()
    if (this.#unread || this.#own.size > maxOwn) {
      const foreign = await this.#readChanges()
      if (doubts !== this.#doubts) return
      this.#unread = false
      if (foreign) this.#confirm()
    }
    if (doubts !== this.#doubts) return
    this.#readAt = startedAt
    this.#readAtWall = startedAtWall
  }

  /**
   * Passes new changes to listeners; returns whether other processes made any changes except deliveries. Calls `doubt`
   * if the history differs from the one read before.
   */
  async #readChanges(): Promise<boolean> {
    let foreign = false
    let heard = 0
    // A read that begins now must see every commit that this process knows of.
    const mustSee = this.#lastOwn
    for (;;) {
      const from = this.#last
      const { server, changes } = await this.#source.read(from, changesInPage + 1)
      if (isOther(server, this.#server) || !isAt(from, changes[0])) return this.#doubtNow()
      for (const change of from.sequence === 0 ? changes : changes.slice(1)) {
        if (heard > 0 && heard % this.#changesInTurn === 0) await this.#turn()
        heard += 1
        const own = this.#own.get(change.sequence)
        if (own !== undefined && own !== change.token) return this.#doubtNow()
        this.#step(change)
        if (own !== undefined) continue
        // Any node may send deliveries, so no caller waits for all nodes to hear about them.
        foreign ||= change.kind !== 'delivery'
        this.#notify(change)
      }
      if (changes.length <= changesInPage) break
    }
    return this.#last.sequence < mustSee ? this.#doubtNow() : foreign
  }

  async #turn(): Promise<void> {
    await new Promise<void>((resolve) => this.#timers.soon(resolve))
  }

  #doubtNow(): false {
    this.doubt()
    return false
  }

  /** Finds the end of the feed, then drops every cache: whatever is read afterwards is at least as new as that end. */
  async #startAnew(): Promise<void> {
    const doubts = this.#doubts
    const before = this.#newestKnown()
    // Other nodes must be waiting for this one before its reads count.
    await this.#standing.renew()
    const startedAt = this.#clock.monotonic()
    const startedAtWall = this.#clock.now()
    const again = await this.#source.read(before, 1)
    const { server, mark } = await this.#source.head()
    if (doubts !== this.#doubts) return
    this.#reportHistory({
      before: { ...this.#server, ...before },
      after: { ...server, ...mark },
      isKept: isAt(before, again.changes[0]),
    })
    this.#last = mark
    this.#server = server
    this.#own.clear()
    this.#recent.clear()
    this.#lastOwn = 0
    this.#unread = true
    await Promise.all([...this.#allResets()].map(async (reset) => await reset()))
    if (doubts !== this.#doubts) return
    this.#isDoubted = false
    this.#readAt = startedAt
    this.#readAtWall = startedAtWall
  }

  /** Returns the position of the last change that this process has read or committed. */
  #newestKnown(): FeedMark {
    const token = this.#own.get(this.#lastOwn)
    const isOwn = token !== undefined && this.#lastOwn > this.#last.sequence
    return isOwn ? { sequence: this.#lastOwn, token } : this.#last
  }

  #reportHistory(move: Omit<HistoryChange, 'reason'> & { readonly isKept: boolean }): void {
    const { before, after, isKept } = move
    if (before.identity === '') return
    if (isKept && before.identity === after.identity) return
    this.#onHistory({ reason: isKept ? 'server' : 'lost', before, after })
  }

  *#allResets(): Iterable<() => void | Promise<void>> {
    for (const list of this.#listeners.values()) for (const { reset } of list) yield reset
    yield* this.#resets
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners.get(change.kind) ?? []) listener.heard(change)
  }

  #step({ sequence, token }: FeedMark): void {
    this.#last = { sequence, token }
    this.#own.delete(sequence)
    this.#recent.set(sequence, token)
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > maxRecent && oldest !== undefined) this.#recent.delete(oldest)
  }

  #isTrusted(monotonicMs: number, machineMs?: number): boolean {
    return this.#isFresh(monotonicMs, machineMs) && this.#standing.covers(this.#readAt, monotonicMs)
  }

  #isFresh(monotonicMs: number, machineMs = this.#clock.now()): boolean {
    // The monotonic clock stands still while a virtual machine is suspended.
    return monotonicMs - this.#readAt < trustMs && machineMs - this.#readAtWall < trustMs
  }

  #poll(): void {
    // If reads keep failing, `isCurrent` becomes false within a second, and callers check it.
    void this.read().catch(() => this.#polls.failed())
  }

  /** Handles a notification; if this node made all the changes itself, there is nothing to read. */
  #hinted(upTo: FeedMark | undefined): void {
    // The notification may arrive just before our own commit returns.
    this.#timers.soon(() => {
      if (upTo === undefined || !this.#skipOwn(upTo)) this.#poll()
    })
  }

  /** Skips the changes up to a position if this process made all of them; returns whether it skipped them. */
  #skipOwn(upTo: FeedMark): boolean {
    if (this.#reading || this.#isDoubted || this.#own.get(upTo.sequence) !== upTo.token)
      return false
    const from = this.#last.sequence + 1
    for (let at = from; at <= upTo.sequence; at++) if (!this.#own.has(at)) return false
    for (let at = from; at <= upTo.sequence; at++) {
      this.#step({ sequence: at, token: this.#own.get(at) ?? '' })
    }
    return true
  }
}

function isOther(one: ServerMark, other: ServerMark): boolean {
  return one.identity !== other.identity || one.startedAt !== other.startedAt
}
