import type { Kysely, RawBuilder } from 'kysely'
import type { Change, FeedMark } from '../db/changes.ts'
import type { Db, Engine, Tx } from '../db/db.ts'
import type { CallRows } from '../tables/calls/call-rows.ts'
import type { CountRows } from '../tables/calls/count-rows.ts'
import type { Tables } from '../tables/index.ts'

/** Reads and transactions over one set of connections. */
export interface EngineLane {
  readonly query: Kysely<Tables>
  /** Runs a unit of work, then the ledger, then commits; those of one queue may share a commit. */
  transact<T>(
    work: (tx: Tx) => Promise<T>,
    queue?: string,
  ): Promise<{ result: T; changes: Change[] }>
}

/** The state of the connection pool. */
export interface PoolState {
  readonly open: number
  readonly idle: number
  /** Requests waiting for a connection. */
  readonly waiting: number
}

/** The interface that both engines implement; only this folder sees it. */
export interface EngineHandle extends EngineLane {
  readonly engine: Engine
  /**
   * The same database over separate connections (PostgreSQL): transactions waiting for a lock, which can use up the
   * main pool, then delay neither the feed nor the deliveries.
   */
  readonly background: EngineLane
  /**
   * Connections reserved for ending access: a revocation must not wait for connections held by publishers that wait for
   * each other.
   */
  readonly urgent: EngineLane
  /**
   * For data that a power loss may take back: on SQLite such a commit does not wait for the disk and so delays no call.
   */
  readonly mayBeLost: EngineLane
  /** The database that holds call records. */
  readonly calls: Db
  /** For reads that may take seconds; they never block the rest of this process. */
  readonly slowReads: Db
  /** Slow reads of the database that holds call records. */
  readonly slowCallReads: Db
  /** Like `transact`, on the database that holds call records; nothing is collected there. */
  transactCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Adds call records and counts in a separate commit, in parallel with serving calls where possible; allows one batch
   * at a time.
   */
  insertCalls(rows: CallRows, counts: readonly CountRows[]): Promise<void>
  /** Whether another process may have committed since this was last called. */
  hasForeignCommit(): Promise<boolean>
  /** Milliseconds between polls of the feed; hints arrive in between. Read only after `listen`. */
  readonly pollMs: number
  /**
   * Calls back on each notification of new changes, with the feed position that it contains; notifications may get
   * lost.
   */
  listen(onHint: (upTo: FeedMark | undefined) => void): void
  /** Calls back when a different database server may be responding. */
  onOther(call: () => void): void
  /** SQL that identifies this database; see `ServerMark`. */
  serverIdentity(): RawBuilder<string>
  serverStart(): RawBuilder<string>
  /** The state of this process's connections, if there is a pool. */
  pool?(): PoolState
  /** Copies the main database into a file while it stays in use. */
  backup(file: string): Promise<void>
  close(): Promise<void>
}
