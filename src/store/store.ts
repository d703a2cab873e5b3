import type { Clock } from '../clock.ts'
import type { Db, Engine, Tx } from './db/db.ts'
import type { PoolState } from './engine/engine.ts'
import { unconfirmed, type StoreStatus } from './engine/node-link.ts'
import type { Confirmation } from './feed/confirmation.ts'
import type { Feed } from './feed/feed.ts'
import type { CallRows } from './tables/calls/call-rows.ts'

/** The database, whichever engine it is on. */
export interface Store extends Db {
  readonly engine: Engine
  readonly feed: Feed
  /** The time that all nodes share: the database's, where it has a clock of its own. */
  readonly clock: Clock
  /** How this node stands to the database and the others. */
  status(): StoreStatus
  /** The connections of this process; undefined on SQLite, which has no pool. */
  pool(): PoolState | undefined
  /**
   * The same database over connections of its own, for what must go on while everybody else waits for a lock: sending
   * deliveries. What it commits is heard like everything else.
   */
  readonly background: Db & Pick<Store, 'transaction'>
  /** Where call records are. */
  readonly calls: Db
  /** For reads that may take seconds: they hold up nothing else in this process. */
  readonly slowReads: Db
  /** The same where call records are. */
  readonly slowCallReads: Db
  /** Commits a work as a whole, with what it collected. Only the database may be awaited inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** The same for what a loss of power may take back, such as when a key was used last; nothing that anybody must hear. */
  transactionThatMayBeLost<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * The same, and answers only when every live node has heard it, or trusts nothing any more (1 s); `isNeeded` says
   * whether a result has to be heard at all. Works of one `queue` run one after the other in this process, and those
   * that wait at the same time share a commit: for many small ones that would wait for the same locks.
   */
  transactionConfirmed<T>(
    work: (tx: Tx) => Promise<T>,
    options?: {
      readonly isNeeded?: (result: T) => boolean
      readonly queue?: string | undefined
    },
  ): Promise<{ result: T; confirmation: Confirmation }>
  /**
   * Runs something whose audited transactions also do `companion`, each as its last act: both are committed or neither.
   */
  accompanied<T>(companion: (tx: Tx) => Promise<void>, run: () => Promise<T>): Promise<T>
  /** Commits a work on the call records. */
  transactionOnCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Adds call records in a commit of their own; one batch at a time. */
  insertCalls(rows: CallRows): Promise<void>
  /** Copies the main database into a new file, whole or not at all (SQLite). */
  backup(file: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The store as it is inside a transaction that is under way: what asks for a transaction of its own becomes a part of
 * that one, so that several works are committed together or not at all.
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
      // Whoever opened the transaction waits for its confirmation.
      return { result: await work(tx), confirmation: unconfirmed }
    },
  }
}
