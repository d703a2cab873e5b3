import type { Change, ChangeKind } from '../db/db.ts'
import type { Feed } from './feed.ts'

const maxReads = 3

/** What is remembered of the database and must follow the change feed: never trusted when the feed is not current. */
export interface FeedCache<Value> {
  /** The value of a key: remembered, or read now; undefined when the database has none. */
  find(key: string): Promise<Value | undefined>
  /** How many values are remembered. */
  readonly size: number
}

/**
 * Opens a cache of at most `capacity` values; the longest remembered go first. `read` asks the database; what it does
 * not find is not remembered. `forgets` says, per kind of change, which values the change may have touched.
 */
export function createFeedCache<Value extends object>(deps: {
  readonly feed: Feed
  readonly capacity: number
  readonly read: (key: string) => Promise<Value | undefined>
  readonly forgets: Partial<Record<ChangeKind, (change: Change, value: Value) => boolean>>
}): FeedCache<Value> {
  const { feed, capacity, read, forgets } = deps
  // A Map keeps insertion order: its first entry is the longest remembered.
  const remembered = new Map<string, Value>()
  // Counts changes, so that a read that overlaps one is not remembered.
  let generation = 0

  for (const [kind, isTouched] of Object.entries(forgets)) {
    feed.on(
      kind as ChangeKind,
      (change) => {
        generation += 1
        for (const [key, value] of remembered) if (isTouched(change, value)) remembered.delete(key)
      },
      forgetAll,
    )
  }

  function forgetAll(): void {
    generation += 1
    remembered.clear()
  }

  function remember(key: string, value: Value): void {
    const [oldest] = remembered.keys()
    if (remembered.size >= capacity && oldest !== undefined) remembered.delete(oldest)
    remembered.set(key, value)
  }

  return {
    async find(key) {
      const known = feed.isCurrent() ? remembered.get(key) : undefined
      if (known !== undefined) return known
      for (let reads = 1; ; reads++) {
        const before = generation
        const found = await read(key)
        if (found === undefined) return undefined
        // A change that came in while we read may not be in what we read.
        if (before === generation) remember(key, found)
        else if (reads < maxReads) continue
        return found
      }
    },
    get size() {
      return remembered.size
    },
  }
}
