import type { Change, FeedMark } from '../db/changes.ts'
import type { ServerMark } from '../db/db.ts'
import type { FeedPace } from './feed-polls.ts'

/** Where the feed is read from; a simulation in the tests has its own source. */
export interface FeedSource {
  readonly pace: FeedPace
  /** Whether another process may have committed since this was last called. */
  hasForeignCommit(): Promise<boolean>
  /** Reads the changes from a position on; the first is the one at that position, if it still exists. */
  read(from: FeedMark, limit: number): Promise<{ server: ServerMark; changes: readonly Change[] }>
  /** Returns the position of the last change in the feed. */
  head(): Promise<{ server: ServerMark; mark: FeedMark }>
  /**
   * Calls `onHint` when there may be new changes, with the latest position if the notification contains it.
   * Notifications may get lost.
   */
  listen(onHint: (upTo: FeedMark | undefined) => void): void
}

/** Says whether other nodes wait for this one to confirm changes; only then may this node trust its caches. */
export interface Standing {
  /** Whether other nodes have been waiting for this one since before a read began; `now` is monotonic. */
  covers(readStartedAt: number, now: number): boolean
  /** Registers this node anew: only reads that begin after this may make its caches trusted. */
  renew(): Promise<void>
}
