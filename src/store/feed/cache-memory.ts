/** Holds the values of a cache, and finds those that were built from a subject. */
export interface CacheMemory<Value, Key = string> {
  readonly size: number
  get(key: Key): Value | undefined
  /** Adds a value, which may evict others or may itself not be kept. */
  add(key: Key, value: Value): void
  drop(key: Key): void
  /** Drops every value that was built from this subject. */
  forget(subject: string): void
  clear(): void
}

interface MapMemoryDeps<Value> {
  readonly capacity: number
  /**
   * The subjects a value was built from, such as the ids of a session and its user; a change to any of them drops the
   * value.
   */
  readonly subjectsOf: (value: Value, key: string) => string | readonly string[]
}

/** Holds values in a Map and evicts the oldest first. */
export class MapMemory<Value> implements CacheMemory<Value> {
  readonly #deps: MapMemoryDeps<Value>
  // A Map keeps insertion order, so its first entry is the oldest.
  readonly #values = new Map<string, Value>()
  // A set of keys is used only for a subject with several values, such as a person with thousands of sessions; most
  // subjects have one value.
  readonly #keysOf = new Map<string, string | Set<string>>()

  constructor(deps: MapMemoryDeps<Value>) {
    this.#deps = deps
  }

  get size(): number {
    return this.#values.size
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  /** Returns the key of one of the values built from a subject; undefined if there is none. */
  keyOf(subject: string): string | undefined {
    const [key] = keysIn(this.#keysOf.get(subject))
    return key
  }

  add(key: string, value: Value): void {
    this.drop(key)
    const [oldest] = this.#values.keys()
    if (this.#values.size >= this.#deps.capacity && oldest !== undefined) this.drop(oldest)
    this.#values.set(key, value)
    for (const subject of listOf(this.#deps.subjectsOf(value, key))) {
      const others = this.#keysOf.get(subject)
      if (others instanceof Set) others.add(key)
      else this.#keysOf.set(subject, others === undefined ? key : new Set([others, key]))
    }
  }

  /** Replaces a value with another one built from the same subjects. */
  replace(key: string, change: (value: Value) => Value): void {
    const known = this.#values.get(key)
    if (known !== undefined) this.#values.set(key, change(known))
  }

  drop(key: string): void {
    const known = this.#values.get(key)
    if (known === undefined) return
    this.#values.delete(key)
    for (const subject of listOf(this.#deps.subjectsOf(known, key))) {
      const keys = this.#keysOf.get(subject)
      if (keys instanceof Set) keys.delete(key)
      if (keys === key || (keys instanceof Set && keys.size === 0)) this.#keysOf.delete(subject)
    }
  }

  forget(subject: string): void {
    const keys = keysIn(this.#keysOf.get(subject))
    this.#keysOf.delete(subject)
    for (const key of keys) this.drop(key)
  }

  clear(): void {
    this.#values.clear()
    this.#keysOf.clear()
  }
}

const none: readonly string[] = []

function keysIn(keys: string | ReadonlySet<string> | undefined): Iterable<string> {
  return typeof keys === 'object' ? keys : listOf(keys)
}

export function listOf(keys: string | readonly string[] | undefined): readonly string[] {
  return keys === undefined ? none : typeof keys === 'string' ? [keys] : keys
}
