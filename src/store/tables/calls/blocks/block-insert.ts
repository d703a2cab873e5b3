import { CompiledQuery } from 'kysely'
import type { Db } from '../../../db/db.ts'
import { nextNumberText, restOfBlock, startOfBlock, type Statement } from './block-statements.ts'
import type { CallBlock } from './call-block.ts'

/**
 * Adds blocks; returns how many calls were new. Must run in a transaction. Small blocks are merged later if `mayMerge`.
 */
export async function insertBlocks(
  db: Db,
  blocks: Iterable<CallBlock>,
  mayMerge = true,
): Promise<number> {
  const { rows } = await db.query.executeQuery<{ next: number }>(CompiledQuery.raw(nextNumberText))
  let no = rows[0]?.next ?? 1
  let added = 0
  for (const block of blocks) {
    if ((await run(db, startOfBlock(block, no, mayMerge))) === 0) continue
    for (const statement of restOfBlock(block, no)) await run(db, statement)
    added += block.calls
    no++
  }
  return added
}

async function run(db: Db, [text, parameters]: Statement): Promise<number> {
  const done = await db.query.executeQuery(CompiledQuery.raw(text, [...parameters]))
  return Number(done.numAffectedRows ?? 0)
}
