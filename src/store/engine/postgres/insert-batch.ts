import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { insertRows } from '../../tables/calls/calls.ts'
import type { CallRows } from '../../tables/calls/call-rows.ts'
import { add as addCounts } from '../../tables/calls/call-counts.ts'
import type { CountRows } from '../../tables/calls/count-rows.ts'
import type { EngineHandle, EngineLane } from '../engine.ts'

/**
 * Returns a function that inserts records and counts in one commit. When the same batch is retried, the counts are not
 * added again if an earlier try is known to have been committed.
 */
export function createBatchInsert(lane: EngineLane): EngineHandle['insertCalls'] {
  const tries = new WeakMap<readonly CountRows[], string>()

  /**
   * Returns whether an earlier try of the batch was committed although its response was lost. If the batch has records,
   * this inserts them: an earlier try was committed if none of them is new. A batch with counts alone is recognized by
   * the id of the earlier transaction.
   */
  async function wasCommitted(tx: Tx, rows: CallRows, counts: readonly CountRows[]) {
    if (rows.count > 0) return (await insertRows(tx, rows)) === 0
    const earlier = tries.get(counts)
    const { id, outcome } = await thisTry(tx, earlier)
    if (outcome === 'in progress') throw new Error(`transaction ${earlier ?? ''} has not ended yet`)
    if (outcome === 'committed') return true
    tries.set(counts, id)
    return false
  }

  return async (rows, counts) => {
    if (counts.length === 0) {
      await insertRows({ query: lane.query, engine: 'postgres' }, rows)
      return
    }
    await lane.transact(async (tx) => {
      if (!(await wasCommitted(tx, rows, counts))) await addCounts(tx, counts)
    })
  }
}

/**
 * Returns the id of this transaction, and the outcome of an earlier one; null if there was none or the server does not
 * know its outcome.
 */
async function thisTry(
  tx: Tx,
  earlier: string | undefined,
): Promise<{ id: string; outcome: string | null }> {
  // After a failover, the new server may not have reached the earlier id yet, and PostgreSQL fails when asked for the
  // status of a future transaction.
  const { rows } = await sql<{ id: string; outcome: string | null }>`
    with own as materialized (select pg_current_xact_id() as id)
    select id::text as id,
      case when ${earlier ?? null}::text::xid8 < id
        then pg_xact_status(${earlier ?? null}::text::xid8) end as outcome
    from own`.execute(tx.query)
  const [row] = rows
  if (row === undefined) throw new Error('a transaction has no id')
  return row
}
