import type { Change, ChangeKind, ChangeOf } from '../db/changes.ts'
import type { Feed } from './feed.ts'

const maxReads = 3

/** A change that touches every value. */
export const everything = Symbol('everything')

export interface FeedCacheDeps<Value> {
  readonly feed: Feed
  readonly capacity: number
  /** Asks the database; what it does not find is not remembered. */
  readonly read: (key: string) => Promise<Value | undefined>
  /** What a value was made of, such as ids of a session and its user: a change of any of them drops it. */
  readonly subjectsOf: (value: Value, key: string) => string | readonly string[]
  /** The kinds of change that matter, and the subject that each of them touches. */
  readonly forgets: {
    readonly [Kind in ChangeKind]?: (change: ChangeOf<Kind>) => string | typeof everything
  }
  /** Whether a value is worth remembering; all are, unless this says otherwise. */
  readonly isKept?: (value: Value) => boolean
}

/**
 * Remembers what the database says, for as long as the change feed is current. The longest remembered go first; a change
 * drops what it touches, another history of the database drops everything, and a read that a change overlaps is
 * repeated, so that what is remembered is never older than the last change that was heard.
 */
export class FeedCache<Value extends object> {
  readonly #deps: FeedCacheDeps<Value>
  // A Map keeps insertion order: its first entry is the longest remembered.
  readonly #remembered = new Map<string, Value>()
  // Nearly every subject has one value: a list only where there are several.
  readonly #keysOf = new Map<string, string | readonly string[]>()
  readonly #listeners = new Set<(change: Change | undefined) => void>()
  // Counts changes, so that a read that overlaps one is not remembered.
  #generation = 0

  constructor(deps: FeedCacheDeps<Value>) {
    this.#deps = deps
    for (const [kind, touches] of Object.entries(deps.forgets)) {
      deps.feed.on(
        kind as ChangeKind,
        (change) => {
          const subject = (touches as (of: Change) => string | typeof everything)(change)
          if (subject === everything) this.#forgetAll()
          else this.#forget(subject)
          for (const heard of this.#listeners) heard(change)
        },
        () => undefined,
      )
    }
    deps.feed.onReset(() => {
      this.#forgetAll()
      for (const heard of this.#listeners) heard(undefined)
    })
  }

  /** How many values are remembered. */
  get size(): number {
    return this.#remembered.size
  }

  /** What is remembered, if it may be trusted at the moment. Never waits. */
  peek(key: string): Value | undefined {
    return this.#deps.feed.isCurrent() ? this.#remembered.get(key) : undefined
  }

  /** One of the remembered values of a subject, if it may be trusted at the moment. */
  peekOf(subject: string): Value | undefined {
    const [key] = listOf(this.#keysOf.get(subject))
    return key === undefined ? undefined : this.peek(key)
  }

  /** The value of a key: remembered, or read now; undefined when the database has none. */
  async find(key: string): Promise<Value | undefined> {
    return this.peek(key) ?? (await this.read(key))
  }

  /** Reads a value from the database and remembers it, unless a change came in meanwhile. */
  async read(key: string): Promise<Value | undefined> {
    for (let reads = 1; ; reads++) {
      const before = this.#generation
      const found = await this.#deps.read(key)
      // A change that came in while we read may not be in what we read.
      const isOverlapped = before !== this.#generation
      if (found !== undefined && isOverlapped && reads < maxReads) continue
      this.#drop(key)
      if (found === undefined || isOverlapped) return found
      if (this.#deps.isKept?.(found) !== false) this.#remember(key, found)
      return found
    }
  }

  /** Puts another value in the place of a remembered one; both have the same subjects. */
  replace(key: string, change: (value: Value) => Value): void {
    const known = this.#remembered.get(key)
    if (known !== undefined) this.#remembered.set(key, change(known))
  }

  /** Calls back after each change that matters, with undefined when everything was forgotten; returns how to stop that. */
  onChange(heard: (change: Change | undefined) => void): () => void {
    this.#listeners.add(heard)
    return () => void this.#listeners.delete(heard)
  }

  #remember(key: string, value: Value): void {
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size >= this.#deps.capacity && oldest !== undefined) this.#drop(oldest)
    this.#remembered.set(key, value)
    for (const subject of listOf(this.#deps.subjectsOf(value, key))) {
      const others = this.#keysOf.get(subject)
      this.#keysOf.set(subject, others === undefined ? key : [...listOf(others), key])
    }
  }

  #drop(key: string): void {
    const known = this.#remembered.get(key)
    if (known === undefined) return
    this.#remembered.delete(key)
    for (const subject of listOf(this.#deps.subjectsOf(known, key))) {
      const [other, ...more] = listOf(this.#keysOf.get(subject)).filter((each) => each !== key)
      if (other === undefined) this.#keysOf.delete(subject)
      else this.#keysOf.set(subject, more.length === 0 ? other : [other, ...more])
    }
  }

  #forget(subject: string): void {
    this.#generation += 1
    for (const key of listOf(this.#keysOf.get(subject))) this.#drop(key)
  }

  #forgetAll(): void {
    this.#generation += 1
    this.#remembered.clear()
    this.#keysOf.clear()
  }
}

const none: readonly string[] = []

function listOf(keys: string | readonly string[] | undefined): readonly string[] {
  return keys === undefined ? none : typeof keys === 'string' ? [keys] : keys
}
