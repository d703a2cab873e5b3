import type { Change, ChangeKind, ChangeOf } from '../db/changes.ts'
import type { Feed } from './feed.ts'

const maxReads = 10

/** A change that touches every value. */
export const everything = Symbol('everything')

export interface FeedCacheDeps<Value> {
  readonly feed: Feed
  readonly capacity: number
  /** Reads from the database; a missing value is not remembered. */
  readonly read: (key: string) => Promise<Value | undefined>
  /**
   * The subjects a value was built from, such as the ids of a session and its user; a change of any of them drops it.
   */
  readonly subjectsOf: (value: Value, key: string) => string | readonly string[]
  /** The kinds of change that matter here, and the subject that each one touches. */
  readonly forgets: {
    readonly [Kind in ChangeKind]?: (change: ChangeOf<Kind>) => string | typeof everything
  }
  /** Whether a value is worth remembering; defaults to all. */
  readonly isKept?: (value: Value) => boolean
}

/** The changes that arrived during a read. */
interface Overlap {
  readonly subjects: Set<string>
  isEverything: boolean
}

/**
 * Caches database reads for as long as the change feed is current, and evicts the oldest first. A change drops the
 * values it touches, a different database history drops everything, and a read is repeated if a change of its value
 * overlapped it, so a cached value is never older than the last change heard.
 */
export class FeedCache<Value extends object> {
  readonly #deps: FeedCacheDeps<Value>
  // A Map keeps insertion order, so its first entry is the oldest.
  readonly #remembered = new Map<string, Value>()
  // Most subjects have one value, so a list is used only for several.
  readonly #keysOf = new Map<string, string | readonly string[]>()
  readonly #listeners = new Set<(change: Change | undefined) => void>()
  /** What has changed since each read in progress began. */
  readonly #reading = new Set<Overlap>()

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

  /** The number of remembered values. */
  get size(): number {
    return this.#remembered.size
  }

  /** The remembered value, if it may be trusted right now; never waits. */
  peek(key: string): Value | undefined {
    return this.#deps.feed.isCurrent() ? this.#remembered.get(key) : undefined
  }

  /** One of a subject's remembered values, if it may be trusted right now. */
  peekOf(subject: string): Value | undefined {
    const [key] = listOf(this.#keysOf.get(subject))
    return key === undefined ? undefined : this.peek(key)
  }

  /** The value of a key, from the cache or the database; undefined if there is none. */
  async find(key: string): Promise<Value | undefined> {
    return this.peek(key) ?? (await this.read(key))
  }

  /** Reads a value from the database and remembers it, unless a change arrives in the meantime. */
  async read(key: string): Promise<Value | undefined> {
    for (let reads = 1; ; reads++) {
      const overlap: Overlap = { subjects: new Set(), isEverything: false }
      const found = await this.#readBeside(overlap, key)
      // A change that arrived during the read may be missing from its result.
      const isOverlapped = found !== undefined && this.#isTouched(found, key, overlap)
      if (isOverlapped && reads < maxReads) continue
      this.#drop(key)
      if (found === undefined || isOverlapped) return found
      if (this.#deps.isKept?.(found) !== false) this.#remember(key, found)
      return found
    }
  }

  /** Replaces a remembered value with another one that has the same subjects. */
  replace(key: string, change: (value: Value) => Value): void {
    const known = this.#remembered.get(key)
    if (known !== undefined) this.#remembered.set(key, change(known))
  }

  /**
   * Calls back after each relevant change, with undefined when everything was dropped; returns a function to
   * unsubscribe.
   */
  onChange(heard: (change: Change | undefined) => void): () => void {
    this.#listeners.add(heard)
    return () => void this.#listeners.delete(heard)
  }

  async #readBeside(overlap: Overlap, key: string): Promise<Value | undefined> {
    this.#reading.add(overlap)
    try {
      return await this.#deps.read(key)
    } finally {
      this.#reading.delete(overlap)
    }
  }

  #isTouched(value: Value, key: string, { subjects, isEverything }: Overlap): boolean {
    return (
      isEverything ||
      listOf(this.#deps.subjectsOf(value, key)).some((subject) => subjects.has(subject))
    )
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
    for (const overlap of this.#reading) overlap.subjects.add(subject)
    for (const key of listOf(this.#keysOf.get(subject))) this.#drop(key)
  }

  #forgetAll(): void {
    for (const overlap of this.#reading) overlap.isEverything = true
    this.#remembered.clear()
    this.#keysOf.clear()
  }
}

const none: readonly string[] = []

function listOf(keys: string | readonly string[] | undefined): readonly string[] {
  return keys === undefined ? none : typeof keys === 'string' ? [keys] : keys
}
