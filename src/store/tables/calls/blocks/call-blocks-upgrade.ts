import { sql } from 'kysely'
import type { Db } from '../../../db/db.ts'
import { callRecordOf, type CallTable } from '../record/call-columns.ts'
import { insertBlocks } from './block-insert.ts'
import { blocksOf, maxBlockSpanMs } from './call-block.ts'

export const callBlocksMigration = '0020-call-blocks.sql'
const rowsAtOnce = 8192

/**
 * Moves the records of the former table `call` into blocks and drops it, as a part of the migration that creates the
 * tables of blocks. Takes about 5 s for a million records.
 */
export async function moveCallsIntoBlocks(db: Db): Promise<void> {
  let [organizationId, id] = ['', '']
  for (;;) {
    const { rows } = await sql<CallTable>`select * from call
      where (organization_id, id) > (${organizationId}, ${id})
      order by organization_id, id limit ${sql.lit(rowsAtOnce)}`.execute(db.query)
    const last = rows.at(-1)
    if (last === undefined) break
    await insertBlocks(db, blocksOf(rows.map(callRecordOf), maxBlockSpanMs), false)
    organizationId = last.organization_id
    id = last.id
  }
  await sql`drop table call`.execute(db.query)
}
