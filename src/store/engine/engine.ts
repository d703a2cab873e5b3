import type { Kysely, RawBuilder } from 'kysely'
import type { Change, FeedMark } from '../db/changes.ts'
import type { Db, Engine, Tx } from '../db/db.ts'
import type { FeedPace } from '../feed/feed-polls.ts'
import type { CallRows } from '../tables/calls/call-rows.ts'
import type { OldCalls } from '../tables/calls/calls.ts'
import type { CountRows } from '../tables/calls/count-rows.ts'
import type { Tables } from '../tables/index.ts'

/** Reads and transactions over one set of connections. */
export interface EngineLane {
  readonly query: Kysely<Tables>
  /** Runs a unit of work, writes the ledger, then commits; units of work with the same `queue` may share a commit. */
  transact<T>(
    work: (tx: Tx) => Promise<T>,
    queue?: string,
  ): Promise<{ result: T; changes: Change[] }>
}

export interface BackgroundLane extends EngineLane {
  /**
   * Runs work that needs no transaction and records no audit entries, events or changes: on PostgreSQL without the
   * round trips of `begin` and `commit`, on SQLite without waiting for the disk. The work may run twice, or be undone by
   * a power failure, so both must be harmless.
   */
  autocommit<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}

/** How many connections a pool has open, and how many of those are idle. */
export interface PoolState {
  readonly open: number
  readonly idle: number
  /** Queries and transactions that are waiting for a connection. */
  readonly waiting: number
}

/** The interface that both engines implement, for the store's own code only. */
export interface EngineHandle extends EngineLane {
  readonly engine: Engine
  /**
   * On PostgreSQL, separate connections for the feed and for deliveries: transactions that wait for a lock can use up
   * the main pool.
   */
  readonly background: BackgroundLane
  /**
   * On PostgreSQL, separate connections for changes that must not wait while other transactions wait for locks, such as
   * revocations.
   */
  readonly urgent: EngineLane
  /** For data that may be lost in a power failure; on SQLite, such a commit does not wait for the disk. */
  readonly mayBeLost: EngineLane
  /** The database that holds call records. */
  readonly calls: Db
  /** For reads that may take seconds; they never block the rest of this process. */
  readonly slowReads: Db
  /** Slow reads of the database that holds call records. */
  readonly slowCallReads: Db
  /**
   * Like `transact`, on the database that holds call records. The work must record no audit entries, events or changes.
   */
  transactCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Adds call records and counts in a separate commit. The caller must wait until a batch is written before it adds the
   * next one.
   */
  insertCalls(rows: CallRows, counts: readonly CountRows[]): Promise<void>
  /**
   * Merges some small blocks of calls that all arrived before the given time; returns whether more may be left. Only
   * SQLite has blocks.
   */
  mergeCalls(olderThanMs: number): Promise<boolean>
  /** Deletes old calls in one commit; returns whether more may be left. */
  forgetCalls(old: OldCalls): Promise<boolean>
  /** Whether another process may have committed since this was last called. */
  hasForeignCommit(): Promise<boolean>
  /**
   * How often the feed is polled; on SQLite this depends on whether the file can be watched, so call `listen` first.
   */
  readonly pace: FeedPace
  /**
   * Calls `onHint` when there may be new changes, with the latest position if the notification contains it.
   * Notifications may get lost.
   */
  listen(onHint: (upTo: FeedMark | undefined) => void): void
  /** Registers a callback that runs when a different database server may be responding. */
  onOther(call: () => void): void
  /** SQL that identifies the database; see `ServerMark`. */
  serverIdentity(): RawBuilder<string>
  serverStart(): RawBuilder<string>
  /** The state of this process's connection pools together, except the pool for slow reads; SQLite has no pools. */
  pool?(): PoolState
  /** Copies the main database into a file while the database stays in use; SQLite only. */
  backup(file: string): Promise<void>
  close(): Promise<void>
}
