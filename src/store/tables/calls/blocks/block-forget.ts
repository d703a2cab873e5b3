import { sql } from 'kysely'
import type { OrganizationId } from '../../../../ids.ts'
import type { Tx } from '../../../db/db.ts'

/**
 * Deletes the oldest of an organization's blocks whose calls all have ids below `beforeId`, with about `limit` calls
 * together. Returns whether more may be left.
 */
export async function forgetBlocks(
  tx: Tx,
  {
    organizationId,
    beforeId,
    limit,
  }: {
    readonly organizationId: OrganizationId
    readonly beforeId: string
    readonly limit: number
  },
): Promise<boolean> {
  const { rows: blocks } = await sql<{ last_id: string; no: number; calls: number }>`
    select last_id, no, calls from call_block
    where organization_id = ${organizationId} and last_id < ${beforeId}
    order by last_id limit ${sql.lit(limit)}`.execute(tx.query)
  let calls = 0
  for (const [index, block] of blocks.entries()) {
    await forgetBlock(tx, organizationId, block)
    calls += block.calls
    if (calls >= limit && index + 1 < blocks.length) return true
  }
  return blocks.length === limit
}

/** Deletes a block. */
export async function forgetBlock(
  tx: Tx,
  organizationId: OrganizationId,
  { last_id, no }: { readonly last_id: string; readonly no: number },
): Promise<void> {
  await sql`delete from call_block_key
    where organization_id = ${organizationId} and last_id = ${last_id} and key_id in (
      select value from json_each((select keys_of(rows) from call_block_rows where no = ${no})))`.execute(
    tx.query,
  )
  await sql`delete from call_block_rows where no = ${no}`.execute(tx.query)
  await sql`delete from call_block
    where organization_id = ${organizationId} and last_id = ${last_id}`.execute(tx.query)
}
