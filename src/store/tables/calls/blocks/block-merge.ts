import { sql } from 'kysely'
import { idBound, type OrganizationId } from '../../../../ids.ts'
import type { Tx } from '../../../db/db.ts'
import { forgetBlock } from './block-forget.ts'
import { insertBlocks } from './block-insert.ts'
import { blocksOf, maxBlockSpanMs, recordsOf } from './call-block.ts'

/** Bounds how long a piece of this work takes on the thread of the calls: about 2 ms. */
const maxCalls = 512

interface NewBlock {
  readonly organization_id: OrganizationId
  readonly last_id: string
  readonly no: number
  readonly calls: number
}

/**
 * Merges some of the small blocks whose calls are older than the given time with their neighbours: an organization with
 * few calls gets a block every quarter of a second, and a search reads hundreds of such blocks more slowly than a few
 * large ones. Returns whether more may be left.
 */
export async function mergeBlocks(tx: Tx, olderThanMs: number): Promise<boolean> {
  const { rows: found } = await sql<NewBlock>`select organization_id, last_id, no, calls
    from call_block indexed by call_block_new
    where is_new = 1 and last_id < ${idBound('req', olderThanMs)}
    order by organization_id, last_id limit ${sql.lit(maxCalls)}`.execute(tx.query)
  const blocks = someOf(found)
  for (const group of Map.groupBy(blocks, (block) => block.organization_id).values()) {
    await mergeOf(tx, group)
  }
  return blocks.length < found.length || found.length === maxCalls
}

/** Returns the first blocks, with at most `maxCalls` calls together. */
function someOf(blocks: readonly NewBlock[]): NewBlock[] {
  let calls = 0
  return blocks.filter((block) => (calls += block.calls) <= maxCalls)
}

async function mergeOf(tx: Tx, blocks: readonly NewBlock[]): Promise<void> {
  const numbers = sql.join(blocks.map(({ no }) => no))
  const { rows: stored } = await sql<{ rows: Buffer }>`select rows from call_block_rows
    where no in (${numbers})`.execute(tx.query)
  const merged = blocksOf(
    stored.flatMap(({ rows }) => recordsOf(rows)),
    maxBlockSpanMs,
  )
  if (merged.length >= blocks.length) {
    for (const { organization_id, last_id } of blocks) {
      await sql`update call_block set is_new = 0
        where organization_id = ${organization_id} and last_id = ${last_id}`.execute(tx.query)
    }
    return
  }
  for (const block of blocks) await forgetBlock(tx, block.organization_id, block)
  await insertBlocks(tx, merged, true)
}
