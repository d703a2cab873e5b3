import type { Clock, Moment } from '../clock.ts'
import type { Db, Engine, Tx } from './db/db.ts'
import type { PoolState } from './engine/engine.ts'
import { unconfirmed, type StoreStatus } from './engine/node-link.ts'
import type { Confirmation } from './feed/confirmation.ts'
import type { Feed } from './feed/feed.ts'
import type { CallRows } from './tables/calls/call-rows.ts'
import type { OldCalls } from './tables/calls/calls.ts'
import type { CountRows } from './tables/calls/count-rows.ts'

/** The open database, with the same interface on SQLite and PostgreSQL. */
export interface Store extends Db {
  readonly engine: Engine
  readonly feed: Feed
  /** The database's clock if the store follows it, otherwise the machine's. */
  readonly clock: Clock
  /** Reads all clocks at once; `nowMs` comes from `clock`. */
  moment(): Moment
  /** The state of this node's link to the database and to the other nodes. */
  status(): StoreStatus
  /**
   * The state of this process's connection pools together, except the pool for slow reads; undefined on SQLite, which
   * has no pools.
   */
  pool(): PoolState | undefined
  /**
   * The same database, on PostgreSQL over separate connections, for work that must continue while other transactions
   * wait for a lock, such as sending deliveries.
   */
  readonly background: Db & Pick<Store, 'transaction'>
  /** The database that holds call records: on SQLite a file of its own. */
  readonly calls: Db
  /** For reads that may take seconds; they never block the rest of this process. */
  readonly slowReads: Db
  /** Slow reads of the database that holds call records. */
  readonly slowCallReads: Db
  /**
   * Runs a unit of work and commits everything it wrote, with its audit entries, events and changes, or nothing. Inside,
   * await only the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `transaction`, for data that may be lost in a power failure, such as a key's last use. The work must not
   * publish changes.
   */
  transactionThatMayBeLost<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `transaction`, but then waits, for about a second at most, until each live node has confirmed the change or
   * its caches have expired.
   */
  transactionConfirmed<T>(
    work: (tx: Tx) => Promise<T>,
    options?: {
      readonly isNeeded?: (result: T) => boolean
      /**
       * Transactions with the same queue run one after the other in this process and may share a commit: for many small
       * transactions that would contend for the same locks.
       */
      readonly queue?: string | undefined
    },
  ): Promise<{ result: T; confirmation: Confirmation }>
  /** Runs a function. Each transaction in it that records an audit entry also runs `companion`, in the same commit. */
  accompanied<T>(companion: (tx: Tx) => Promise<void>, run: () => Promise<T>): Promise<T>
  /** Runs a transaction on the database that holds call records; it must record no audit entries, events or changes. */
  transactionOnCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `transactionOnCalls`, for rows that all nodes keep locking. While the database responds, retries it for up to
   * 3 s if it waited too long for a lock.
   */
  transactionOnCallsThroughLocks<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Adds call records and counts of calls in a separate commit. The caller must wait until a batch is written before it
   * adds the next one.
   */
  insertCalls(rows: CallRows, counts?: readonly CountRows[]): Promise<void>
  /**
   * Merges some small blocks of call records whose calls all arrived before the given time; returns whether more may be
   * left. Only SQLite has blocks.
   */
  mergeCalls(olderThanMs: number): Promise<boolean>
  /**
   * Deletes up to about `limit` of an organization's call records with ids below `beforeId` in one commit; returns
   * whether more may be left. PostgreSQL drops whole daily partitions elsewhere, so this deletes only what has no
   * partition of its own.
   */
  forgetCalls(old: OldCalls): Promise<boolean>
  /** Copies the main database into a new file, which gets its name only when it is complete; SQLite only. */
  backup(file: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a store whose transactions on the main database join the open transaction `tx`, so that several operations
 * commit together or not at all.
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
      // Nothing is committed yet, so only the outer transaction's caller can wait for the confirmation.
      return { result: await work(tx), confirmation: unconfirmed }
    },
  }
}
