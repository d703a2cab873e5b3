import type { Kysely, RawBuilder } from 'kysely'
import type { Change, FeedMark } from '../db/changes.ts'
import type { Db, Engine, Tx } from '../db/db.ts'
import type { CallRows } from '../tables/calls/call-rows.ts'
import type { Tables } from '../tables/index.ts'

/** Reads and transactions over one set of connections. */
export interface EngineLane {
  readonly query: Kysely<Tables>
  /** Runs a work, then the ledger, then commits; works of one queue may share a commit. */
  transact<T>(
    work: (tx: Tx) => Promise<T>,
    queue?: string,
  ): Promise<{ result: T; changes: Change[] }>
}

/** Connections to a database server. */
export interface PoolState {
  readonly open: number
  readonly idle: number
  /** Works that wait for one. */
  readonly waiting: number
}

/** What the two engines have in common; only this folder sees it. */
export interface EngineHandle extends EngineLane {
  readonly engine: Engine
  /**
   * The same database over connections of its own (PostgreSQL): transactions that wait for a lock, and hold all others
   * meanwhile, keep neither the feed nor the deliveries waiting.
   */
  readonly background: EngineLane
  /** Connections for what ends access: it must not wait for those that publishers hold while they wait for each other. */
  readonly urgent: EngineLane
  /** For what a loss of power may take back: on SQLite such a commit does not wait for the disk, and so holds up no call. */
  readonly mayBeLost: EngineLane
  /** Where call records are. */
  readonly calls: Db
  /** For reads that may take seconds: they hold up nothing else in this process. */
  readonly slowReads: Db
  /** The same where call records are. */
  readonly slowCallReads: Db
  /** The same as `transact` where call records are; nothing is collected there. */
  transactCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Adds call records in a commit of their own, beside the calls where that is possible; one batch at a time. */
  insertCalls(rows: CallRows): Promise<void>
  /** Whether somebody else may have committed since the last time this was asked. */
  hasForeignCommit(): Promise<boolean>
  /** Milliseconds between two looks at the feed; hints come in between. Asked after `listen`. */
  readonly pollMs: number
  /** Calls back on each notification of new changes, with the mark that it names; notifications may get lost. */
  listen(onHint: (upTo: FeedMark | undefined) => void): void
  /** Calls back when another database than before may answer. */
  onOther(call: () => void): void
  /** What makes this database this database; see `ServerMark`. */
  serverIdentity(): RawBuilder<string>
  serverStart(): RawBuilder<string>
  /** The connections of this process, where there is a pool. */
  pool?(): PoolState
  /** Copies the main database into a file while work goes on. */
  backup(file: string): Promise<void>
  close(): Promise<void>
}
