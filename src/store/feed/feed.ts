import type { Clock } from '../../clock.ts'
import type { Change, ChangeKind, ChangeOf, FeedMark } from '../db/changes.ts'
import type { ServerMark } from '../db/db.ts'

const trustMs = 1000
const changesInPage = 1000
const maxOwn = 10_000
const maxRecent = 2000
// The table keeps changes for an hour: whoever has not read for half of that starts afresh.
const resetAfterMs = 30 * 60 * 1000

/** Where the feed is read; the simulation has one of its own. */
export interface FeedSource {
  readonly pollMs: number
  /** Whether somebody else may have committed since the last time this was asked. */
  hasForeignCommit(): Promise<boolean>
  /** The changes from a mark on; the first is the one at the mark, if it is still there. */
  read(from: FeedMark, limit: number): Promise<{ server: ServerMark; changes: readonly Change[] }>
  /** The last change. */
  head(): Promise<{ server: ServerMark; mark: FeedMark }>
  /** Calls back when there is news, up to which mark if the notification says so; hints may get lost. */
  listen(onHint: (upTo: FeedMark | undefined) => void): void
}

/** A node's promise that others wait for it, without which it may trust nothing that it remembers. */
export interface Standing {
  /** Whether others waited for this node when a read began. */
  covers(readStartedAt: number): boolean
  /** Registers anew, with nothing confirmed. */
  renew(): Promise<void>
}

/** What calls back later. */
export interface Timers {
  every(ms: number, call: () => void): () => void
  soon(call: () => void): void
}

/** The database is not the one that this node has read so far. */
export interface HistoryChange {
  /** `server`: another server, which has every change that this node heard; `lost`: it lacks some of them. */
  readonly reason: 'server' | 'lost'
  readonly before: ServerMark & FeedMark
  readonly after: ServerMark & FeedMark
}

/** How a node hears what was committed, by itself and by others. */
export interface Feed {
  /** Calls `heard` for each change of a kind, and `reset` when changes may have been missed and everything must be forgotten. */
  on<Kind extends ChangeKind>(
    kind: Kind,
    heard: (change: ChangeOf<Kind>) => void,
    reset: () => void | Promise<void>,
  ): void
  /** Calls back when everything that was read from the database before may be wrong. */
  onReset(reset: () => void | Promise<void>): void
  /** Whether the feed was read within the last second: only then may caches be trusted. */
  isCurrent(): boolean
  /** Reads the feed now; rejects if the database does not answer. */
  read(): Promise<void>
}

export const systemTimers: Timers = {
  every(ms, call) {
    const timer = setInterval(call, ms).unref()
    return () => clearInterval(timer)
  },
  soon: (call) => void setImmediate(call),
}

const nowhere: FeedMark = { sequence: 0, token: '' }
const unknownServer: ServerMark = { identity: '', startedAt: '' }

interface Listener {
  readonly heard: (change: Change) => void
  readonly reset: () => void | Promise<void>
}

/**
 * The feed with what only the store itself calls. It notices when the database has another history than the one it has
 * read: another server, an earlier state, a restored backup. It then trusts nothing until all caches were dropped.
 */
export class ChangeFeed implements Feed {
  readonly #source: FeedSource
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #standing: Standing
  readonly #onHistory: (change: HistoryChange) => void
  readonly #listeners = new Map<ChangeKind, Listener[]>()
  readonly #resets: (() => void | Promise<void>)[] = []
  /** Tokens of what this process committed and has not read yet, by sequence. */
  readonly #own = new Map<number, string>()
  /** Tokens of what was read last, by sequence. */
  readonly #recent = new Map<number, string>()
  #lastOwn = 0
  #confirm: () => void = () => undefined
  #last = nowhere
  #server = unknownServer
  #isDoubted = true
  /** Counts doubts about the history: a read that one overlaps proves nothing. */
  #doubts = 0
  #readAt = Number.NEGATIVE_INFINITY
  #readAtWall = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #again = false
  #unread = false
  #stop: () => void = () => undefined

  constructor(deps: {
    source: FeedSource
    clock: Clock
    standing: Standing
    timers?: Timers | undefined
    onHistory?: ((change: HistoryChange) => void) | undefined
  }) {
    this.#source = deps.source
    this.#clock = deps.clock
    this.#standing = deps.standing
    this.#timers = deps.timers ?? systemTimers
    this.#onHistory = deps.onHistory ?? (() => undefined)
  }

  on<Kind extends ChangeKind>(
    kind: Kind,
    heard: (change: ChangeOf<Kind>) => void,
    reset: () => void | Promise<void>,
  ): void {
    const list = this.#listeners.get(kind) ?? []
    // Listeners of a kind are told changes of that kind alone.
    list.push({ heard: heard as (change: never) => void, reset } as Listener)
    this.#listeners.set(kind, list)
  }

  onReset(reset: () => void | Promise<void>): void {
    this.#resets.push(reset)
  }

  isCurrent(): boolean {
    return (
      this.#clock.monotonic() - this.#readAt < trustMs &&
      // The monotonic clock stands still while a virtual machine is suspended.
      this.#clock.now() - this.#readAtWall < trustMs &&
      this.#standing.covers(this.#readAt)
    )
  }

  /** Milliseconds since the start of the last read that proved the caches; infinite where there was none. */
  ageMs(): number {
    return this.#clock.monotonic() - this.#readAt
  }

  /** How far this node has read; nowhere while it doubts its history. */
  mark(): FeedMark {
    return this.#isDoubted ? nowhere : this.#last
  }

  async start(): Promise<void> {
    await this.read()
    this.#source.listen((upTo) => this.#hinted(upTo))
    this.#stop = this.#timers.every(this.#source.pollMs, () => this.#poll())
  }

  stop(): void {
    this.#stop()
  }

  /** Is called after changes of others were heard. */
  onForeign(confirm: () => void): void {
    this.#confirm = confirm
  }

  /** What this process has just committed: heard before the transaction's promise resolves. */
  heardOwn(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.sequence > this.#last.sequence) {
        this.#own.set(change.sequence, change.token)
        this.#lastOwn = Math.max(this.#lastOwn, change.sequence)
      } else if (this.#recent.get(change.sequence) === change.token) {
        // The feed has read it in the moment before the commit's answer came: then it is told.
        continue
      } else {
        // A number below what was read before, and yet new: the history has gone back.
        this.doubt()
      }
      this.#tell(change)
    }
  }

  /** The database may be another one: nothing that is remembered counts until this is settled. */
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
    this.#reading = (async () => {
      try {
        do {
          this.#again = false
          await this.#readOnce()
        } while (this.#again)
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

  /** Whether anything was committed by others; doubts the history where it is not the one that was read before. */
  async #readChanges(): Promise<boolean> {
    let foreign = false
    // Whatever this process was told to be committed is there for every read that begins afterwards.
    const mustSee = this.#lastOwn
    for (;;) {
      const from = this.#last
      const { server, changes } = await this.#source.read(from, changesInPage + 1)
      if (isOther(server, this.#server) || !isAt(from, changes[0])) return this.#doubtNow()
      for (const change of from.sequence === 0 ? changes : changes.slice(1)) {
        const own = this.#own.get(change.sequence)
        if (own !== undefined && own !== change.token) return this.#doubtNow()
        this.#step(change)
        if (own !== undefined) continue
        // Deliveries are sent by whoever comes first: nobody waits until all nodes have heard of them.
        foreign ||= change.kind !== 'delivery'
        this.#tell(change)
      }
      if (changes.length <= changesInPage) break
    }
    return this.#last.sequence < mustSee ? this.#doubtNow() : foreign
  }

  #doubtNow(): false {
    this.doubt()
    return false
  }

  /** Finds the feed's end, then drops every cache: what is read from now on is at least as new. */
  async #startAnew(): Promise<void> {
    const doubts = this.#doubts
    const before = this.#newestKnown()
    // Others must wait for this node before anything that it reads counts.
    await this.#standing.renew()
    const startedAt = this.#clock.monotonic()
    const startedAtWall = this.#clock.now()
    const again = await this.#source.read(before, 1)
    const { server, mark } = await this.#source.head()
    if (doubts !== this.#doubts) return
    this.#tellHistory({
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

  /** The last change that this process has read, or has committed itself. */
  #newestKnown(): FeedMark {
    const token = this.#own.get(this.#lastOwn)
    const isOwn = token !== undefined && this.#lastOwn > this.#last.sequence
    return isOwn ? { sequence: this.#lastOwn, token } : this.#last
  }

  #tellHistory(told: Omit<HistoryChange, 'reason'> & { readonly isKept: boolean }): void {
    const { before, after, isKept } = told
    if (before.identity === '') return
    if (isKept && before.identity === after.identity) return
    this.#onHistory({ reason: isKept ? 'server' : 'lost', before, after })
  }

  *#allResets(): Iterable<() => void | Promise<void>> {
    for (const list of this.#listeners.values()) for (const { reset } of list) yield reset
    yield* this.#resets
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners.get(change.kind) ?? []) listener.heard(change)
  }

  #step({ sequence, token }: FeedMark): void {
    this.#last = { sequence, token }
    this.#own.delete(sequence)
    this.#recent.set(sequence, token)
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > maxRecent && oldest !== undefined) this.#recent.delete(oldest)
  }

  #poll(): void {
    // What cannot be read shows as a feed that is not current.
    void this.read().catch(() => undefined)
  }

  /** Handles a notification; for changes that this node committed itself there is nothing to read. */
  #hinted(upTo: FeedMark | undefined): void {
    // It may come a moment before our own commit's answer.
    this.#timers.soon(() => {
      if (upTo === undefined || !this.#skipOwn(upTo)) this.#poll()
    })
  }

  /** Steps over changes up to a mark if all of them are our own. */
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

/** Whether a change is the one at a mark; before the first change, any is. */
function isAt(mark: FeedMark, change: Change | undefined): boolean {
  if (mark.sequence === 0) return true
  return change?.sequence === mark.sequence && change.token === mark.token
}
