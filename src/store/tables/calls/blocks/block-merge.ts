import { sql } from 'kysely'
import { idBound, type OrganizationId } from '../../../../ids.ts'
import type { Tx } from '../../../db/db.ts'
import { deleteBlocks, maxBlocksAtOnce } from './block-forget.ts'
import { insertBlocks } from './block-insert.ts'
import { blocksOf, maxBlockSpanMs, recordsOf, type CallBlock } from './call-block.ts'

/** Bounds the work of one transaction on the thread of the calls, together with the number of blocks. */
const maxCalls = 512

interface SmallBlock {
  readonly organization_id: OrganizationId
  readonly last_id: string
  readonly no: number
  readonly calls: number
}

/**
 * Merges some of the small blocks whose calls all arrived before the given time with their neighbours: an organization
 * with few calls gets a block every quarter of a second, and a search reads hundreds of such blocks more slowly than a
 * few large ones. Returns whether more may be left.
 */
export async function mergeBlocks(tx: Tx, olderThanMs: number): Promise<boolean> {
  const { rows: found } = await sql<SmallBlock>`select organization_id, last_id, no, calls
    from call_block indexed by call_block_small
    where may_merge = 1 and last_id < ${idBound('req', olderThanMs)}
    order by organization_id, last_id limit ${sql.lit(maxBlocksAtOnce)}`.execute(tx.query)
  let calls = 0
  const blocks = found.filter((block) => (calls += block.calls) <= maxCalls)
  for (const [organizationId, group] of Map.groupBy(blocks, (block) => block.organization_id)) {
    await mergeOf(tx, organizationId, group)
  }
  return blocks.length < found.length || found.length === maxBlocksAtOnce
}

async function mergeOf(
  tx: Tx,
  organizationId: OrganizationId,
  blocks: readonly SmallBlock[],
): Promise<void> {
  const lastIds = blocks.map((block) => block.last_id)
  const merged = blocks.length === 1 ? undefined : await mergedOf(tx, blocks)
  if (merged === undefined || merged.length >= blocks.length) {
    await sql`update call_block set may_merge = 0 where organization_id = ${organizationId}
      and last_id in (select value from json_each(${JSON.stringify(lastIds)}))`.execute(tx.query)
    return
  }
  await deleteBlocks(tx, organizationId, lastIds)
  await insertBlocks(tx, merged, false)
}

async function mergedOf(tx: Tx, blocks: readonly SmallBlock[]): Promise<CallBlock[]> {
  const { rows: stored } = await sql<{ rows: Buffer }>`select rows from call_block_rows
    where no in (select value from json_each(${JSON.stringify(blocks.map(({ no }) => no))}))`.execute(
    tx.query,
  )
  return blocksOf(
    stored.flatMap(({ rows }) => recordsOf(rows)),
    maxBlockSpanMs,
  )
}
