import { CompiledQuery } from 'kysely'
import type { Db } from '../../../db/db.ts'
import { maxBlockRows, type CallBlock } from './call-block.ts'

/** A statement with its parameters. */
export type Statement = readonly [text: string, parameters: readonly unknown[]]

/** Blocks with fewer calls may be merged later. */
const minFullRows = maxBlockRows / 2

/**
 * Adds a block to the list of blocks, unless it is there already because an earlier try was committed; only if this
 * changes a row, `restOfBlock` must follow. `isMerged` blocks are not merged with others any more.
 */
export function startOfBlock(block: CallBlock, isMerged = false): Statement {
  const { organizationId, lastId, firstId, calls, failed } = block
  const isNew = calls < minFullRows && !isMerged
  return [startText, [organizationId, lastId, firstId, calls, failed, isNew ? 1 : 0]]
}

export function restOfBlock({ organizationId, lastId, rows, keys }: CallBlock): Statement[] {
  return [
    [rowsText, [rows, organizationId, lastId]],
    [keysText, [JSON.stringify(keys), organizationId, lastId]],
  ]
}

const startText = `insert into call_block (organization_id, last_id, first_id, calls, failed, is_new, no)
  select ?, ?, ?, ?, ?, ?, (select coalesce(max(no), 0) + 1 from call_block_rows) where true on conflict do nothing`
const rowsText = `insert into call_block_rows (no, rows)
  select no, ? from call_block where organization_id = ? and last_id = ?`
const keysText = `insert into call_block_key (organization_id, key_id, last_id, first_id, calls, no)
  select organization_id, value->>0, last_id, first_id, value->>1, no from call_block, json_each(?)
  where organization_id = ? and last_id = ?`

/** Adds blocks; returns how many calls were new. Must run in a transaction. */
export async function insertBlocks(
  db: Db,
  blocks: Iterable<CallBlock>,
  isMerged = false,
): Promise<number> {
  let added = 0
  for (const block of blocks) {
    if ((await run(db, startOfBlock(block, isMerged))) === 0) continue
    for (const statement of restOfBlock(block)) await run(db, statement)
    added += block.calls
  }
  return added
}

async function run(db: Db, [text, parameters]: Statement): Promise<number> {
  const done = await db.query.executeQuery(CompiledQuery.raw(text, [...parameters]))
  return Number(done.numAffectedRows ?? 0)
}
