import { sql } from 'kysely'
import type { OrganizationId } from '../../../../ids.ts'
import type { Tx } from '../../../db/db.ts'

/** An organization's calls with ids below `beforeId`, up to `limit` of them. */
export interface OldCalls {
  readonly organizationId: OrganizationId
  readonly beforeId: string
  readonly limit: number
}

/** Bounds the work of one transaction, together with the number of calls. */
export const maxBlocksAtOnce = 64

/**
 * Deletes the oldest of an organization's blocks whose calls all have ids below `beforeId`, with up to about `limit`
 * calls together. Returns whether more may be left.
 */
export async function forgetBlocks(
  tx: Tx,
  { organizationId, beforeId, limit }: OldCalls,
): Promise<boolean> {
  const { rows: blocks } = await sql<{ last_id: string; calls: number }>`
    select last_id, calls from call_block
    where organization_id = ${organizationId} and last_id < ${beforeId}
    order by last_id limit ${sql.lit(maxBlocksAtOnce)}`.execute(tx.query)
  let calls = 0
  const due = blocks.filter((block) => {
    const isDue = calls < limit
    calls += block.calls
    return isDue
  })
  await deleteBlocks(
    tx,
    organizationId,
    due.map((block) => block.last_id),
  )
  return due.length < blocks.length || blocks.length === maxBlocksAtOnce
}

/** Deletes an organization's blocks with these last ids. */
export async function deleteBlocks(
  tx: Tx,
  organizationId: OrganizationId,
  lastIds: readonly string[],
): Promise<void> {
  const blocks = sql`organization_id = ${organizationId}
    and last_id in (select value from json_each(${JSON.stringify(lastIds)}))`
  await sql`delete from call_block_key where (organization_id, key_id, last_id) in (
    select block.organization_id, key.value, block.last_id
    from (select * from call_block where ${blocks}) as block
    join call_block_rows as stored on stored.no = block.no, json_each(keys_of(stored.rows)) as key)`.execute(
    tx.query,
  )
  await sql`delete from call_block_rows
    where no in (select no from call_block where ${blocks})`.execute(tx.query)
  await sql`delete from call_block where ${blocks}`.execute(tx.query)
}
