import { sql, type RawBuilder } from 'kysely'
import type { Tx } from './db.ts'

// PostgreSQL ends a transaction that stays idle this long while it holds locks that all nodes need, for example because
// its node paused.
const idleUnderLockMs = 300
// A transaction that waits longer for such a lock fails, and may be tried again. Otherwise the paused node's own waiting
// transactions would get the lock, one after the other, before any other node.
const maxLockWaitMs = 600

/**
 * Limits how long the rest of a transaction may be idle and wait for locks; to be run before it locks rows that all nodes
 * lock again and again. SQLite needs no limits, because its locks end with the process that holds them.
 */
export async function lockBriefly(tx: Tx): Promise<void> {
  if (tx.engine === 'postgres') await sql`select ${briefLockSettings()}`.execute(tx.query)
}

/** The same as an expression, for statements that lock rows themselves; PostgreSQL only. */
export function briefLockSettings(): RawBuilder<unknown> {
  return sql`set_config('idle_in_transaction_session_timeout', ${String(idleUnderLockMs)}, true),
    set_config('lock_timeout', ${String(maxLockWaitMs)}, true)`
}
