import { sql, type RawBuilder } from 'kysely'
import type { Tx } from './db.ts'

// PostgreSQL ends the session of a transaction that stays idle this long while it holds locks that all nodes need, for
// example because its node paused.
const idleUnderLockMs = 300
// A transaction that waits longer for such a lock fails, and may be tried again. Otherwise each of the paused node's own
// waiting transactions would get the lock in turn before any other node could.
const maxLockWaitMs = 600

/**
 * Limits how long the transaction may be idle and wait for each lock from now on; to be run before it locks rows that all
 * nodes keep locking. Everything that follows in the transaction is limited too. SQLite has no such limits; there, only a
 * process that is paused could keep its lock.
 */
export async function limitLocks(tx: Pick<Tx, 'query' | 'engine'>): Promise<void> {
  if (tx.engine === 'postgres') await sql`select ${lockLimits()}`.execute(tx.query)
}

/** The same as an expression, for statements that lock rows themselves; PostgreSQL only. */
export function lockLimits(): RawBuilder<unknown> {
  return sql`set_config('idle_in_transaction_session_timeout', ${String(idleUnderLockMs)}, true),
    set_config('lock_timeout', ${String(maxLockWaitMs)}, true)`
}
