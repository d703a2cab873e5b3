import type { Moment } from '../../clock.ts'
import type { Change, ChangeKind, ChangeOf } from '../db/changes.ts'
import { listOf, MapMemory, type CacheMemory } from './cache-memory.ts'
import type { Feed } from './feed.ts'

const maxReads = 10

interface FollowingCacheDeps<Value, Key = string> {
  readonly feed: Feed
  /** Reads from the database; a missing value is not remembered. */
  readonly read: (key: Key) => Promise<Value | undefined>
  /**
   * The subjects a value was built from, such as the ids of a session and its user; a change to any of them drops the
   * value.
   */
  readonly subjectsOf: (value: Value, key: Key) => string | readonly string[]
  /** For each kind of change that affects this cache, the subject whose values the change drops. */
  readonly forgets: {
    readonly [Kind in ChangeKind]?: (change: ChangeOf<Kind>) => string
  }
  /** Whether a value is worth remembering; by default every value is. */
  readonly isKept?: (value: Value) => boolean
}

/** The changes that arrived during a read. */
interface Overlap {
  readonly subjects: Set<string>
  isEverything: boolean
}

/**
 * Caches database reads, and trusts them only while the change feed is current. A change drops the values built from
 * its subject; a different database history drops everything.
 */
export class FollowingCache<Value extends object, Key = string> {
  readonly #deps: FollowingCacheDeps<Value, Key>
  readonly #memory: CacheMemory<Value, Key>
  readonly #listeners = new Set<(change: Change | undefined) => void>()
  readonly #reading = new Set<Overlap>()

  constructor(deps: FollowingCacheDeps<Value, Key>, memory: CacheMemory<Value, Key>) {
    this.#deps = deps
    this.#memory = memory
    for (const [kind, touches] of Object.entries(deps.forgets)) {
      deps.feed.on(
        kind as ChangeKind,
        (change) => {
          this.#forget((touches as (of: Change) => string)(change))
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

  get size(): number {
    return this.#memory.size
  }

  /** Returns the remembered value if it may be trusted right now (`moment` as for `isCurrent`); never waits. */
  peek(key: Key, moment?: Moment): Value | undefined {
    return this.#deps.feed.isCurrent(moment) ? this.#memory.get(key) : undefined
  }

  /** Like `peek`, but first proves the feed after a time in which nobody needed it. */
  async peekProven(key: Key): Promise<Value | undefined> {
    return (await this.#deps.feed.prove()) ? this.#memory.get(key) : undefined
  }

  /** Returns the remembered value if it may be trusted, and reads it otherwise. */
  async find(key: Key): Promise<Value | undefined> {
    return this.peek(key) ?? (await this.peekProven(key)) ?? (await this.read(key))
  }

  /**
   * Reads a value from the database and remembers it. If the value changes during the read, it is read again; if it
   * changes during each of ten reads, the last value is returned but not remembered.
   */
  async read(key: Key): Promise<Value | undefined> {
    const overlap: Overlap = { subjects: new Set(), isEverything: false }
    // Changes are collected until the value is in memory, because before that they have nothing to drop.
    this.#reading.add(overlap)
    try {
      for (let reads = 1; ; reads++) {
        overlap.subjects.clear()
        overlap.isEverything = false
        const found = await this.#deps.read(key)
        // A change that arrived during the read may be missing from its result.
        const isOverlapped = found !== undefined && this.#isTouched(found, key, overlap)
        if (isOverlapped && reads < maxReads) continue
        this.#memory.drop(key)
        if (found === undefined || isOverlapped) return found
        if (this.#deps.isKept?.(found) !== false) this.#memory.add(key, found)
        return found
      }
    } finally {
      this.#reading.delete(overlap)
    }
  }

  /**
   * Registers a callback that runs after each relevant change, with undefined when everything was dropped. Returns a
   * function that unregisters it.
   */
  onChange(heard: (change: Change | undefined) => void): () => void {
    this.#listeners.add(heard)
    return () => void this.#listeners.delete(heard)
  }

  #isTouched(value: Value, key: Key, { subjects, isEverything }: Overlap): boolean {
    return (
      isEverything ||
      listOf(this.#deps.subjectsOf(value, key)).some((subject) => subjects.has(subject))
    )
  }

  #forget(subject: string): void {
    for (const overlap of this.#reading) overlap.subjects.add(subject)
    this.#memory.forget(subject)
  }

  #forgetAll(): void {
    for (const overlap of this.#reading) overlap.isEverything = true
    this.#memory.clear()
  }
}

export interface FeedCacheDeps<Value> extends FollowingCacheDeps<Value> {
  readonly capacity: number
}

/** A cache that holds its values in a Map and evicts the oldest first. */
export class FeedCache<Value extends object> extends FollowingCache<Value> {
  readonly #values: MapMemory<Value>

  constructor(deps: FeedCacheDeps<Value>) {
    const values = new MapMemory<Value>(deps)
    super(deps, values)
    this.#values = values
  }

  /** Returns one of the remembered values built from a subject, if it may be trusted right now. */
  peekOf(subject: string): Value | undefined {
    const key = this.#values.keyOf(subject)
    return key === undefined ? undefined : this.peek(key)
  }

  /** Replaces a remembered value with another one built from the same subjects. */
  replace(key: string, change: (value: Value) => Value): void {
    this.#values.replace(key, change)
  }
}
