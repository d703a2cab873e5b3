import type { Kysely } from 'kysely'
import type { Change, Connection, Engine, Transaction } from './connection.ts'
import type { Tables } from './tables.ts'

/** What the two engines have in common; only this folder sees it. */
export interface EngineHandle {
  readonly engine: Engine
  /** For reads outside transactions. */
  readonly query: Kysely<Tables>
  /** Where call records are. */
  readonly calls: Connection
  /** Runs a work, then the ledger, then commits. */
  transact<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T; changes: Change[] }>
  /** The same where call records are; nothing is collected there. */
  transactCalls<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Whether somebody else may have committed since the last time this was asked. */
  hasForeignCommit(): Promise<boolean>
  /** Calls back when a notification says that the feed has news: a hint that may get lost. */
  listen(onHint: () => void): void
  /** Copies the main database into a file while work goes on. */
  backup(file: string): Promise<void>
  close(): Promise<void>
}
