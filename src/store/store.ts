import type { Clock } from '../clock.ts'
import type { Db, Engine, Tx } from './db/db.ts'
import type { PoolState } from './engine/engine.ts'
import { unconfirmed, type StoreStatus } from './engine/node-link.ts'
import type { Confirmation } from './feed/confirmation.ts'
import type { Feed } from './feed/feed.ts'
import type { CallRows } from './tables/calls/call-rows.ts'
import type { CountRows } from './tables/calls/count-rows.ts'

/** The database, on either engine. */
export interface Store extends Db {
  readonly engine: Engine
  readonly feed: Feed
  /** The clock that all nodes share: the database's where it has one, otherwise the machine's. */
  readonly clock: Clock
  /** The state of this node's link to the database and to the other nodes. */
  status(): StoreStatus
  /** The connections of this process; undefined on SQLite, which has no pool. */
  pool(): PoolState | undefined
  /**
   * The same database over separate connections, for work that must continue while other transactions wait for a lock,
   * such as sending deliveries. Its commits reach the change feed like any others.
   */
  readonly background: Db & Pick<Store, 'transaction'>
  /** The database that holds call records. */
  readonly calls: Db
  /** For reads that may take seconds; they never block the rest of this process. */
  readonly slowReads: Db
  /** Slow reads of the database that holds call records. */
  readonly slowCallReads: Db
  /** Commits a unit of work as a whole, with everything it collected. Await nothing but the database inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `transaction`, for data that a power loss may take back, such as a key's last use; must not publish changes.
   */
  transactionThatMayBeLost<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `transaction`, but resolves only when every live node has heard the change or has stopped trusting its caches
   * (1 s); `isNeeded` says whether a given result needs confirming. Transactions with the same `queue` run one after
   * the other in this process, and those waiting at the same time share a commit: meant for many small ones that would
   * contend for the same locks.
   */
  transactionConfirmed<T>(
    work: (tx: Tx) => Promise<T>,
    options?: {
      readonly isNeeded?: (result: T) => boolean
      readonly queue?: string | undefined
    },
  ): Promise<{ result: T; confirmation: Confirmation }>
  /**
   * Runs a function. Every transaction in it that writes an audit entry also executes `companion` as its last step, so
   * that both are committed or neither is.
   */
  accompanied<T>(companion: (tx: Tx) => Promise<void>, run: () => Promise<T>): Promise<T>
  /** Runs a transaction on the database that holds call records. */
  transactionOnCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Adds call records and counts of calls in one separate commit; allows one batch at a time. */
  insertCalls(rows: CallRows, counts?: readonly CountRows[]): Promise<void>
  /** Copies the main database into a new file, all or nothing (SQLite). */
  backup(file: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The store as seen from inside an open transaction: nested transactions join that one, so several operations commit
 * together or not at all.
 */
export function storeWithin(store: Store, tx: Tx): Store {
  return {
    ...store,
    query: tx.query,
    slowReads: { ...store.slowReads, query: tx.query },
    background: {
      ...store.background,
      query: tx.query,
      transaction: async (work) => await work(tx),
    },
    transaction: async (work) => await work(tx),
    transactionThatMayBeLost: async (work) => await work(tx),
    async transactionConfirmed(work) {
      // The outer transaction's caller waits for the confirmation.
      return { result: await work(tx), confirmation: unconfirmed }
    },
  }
}
