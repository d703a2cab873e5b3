import type Database from 'better-sqlite3'
import {
  nextNumberText,
  restOfBlock,
  startOfBlock,
  type Statement,
} from '../../tables/calls/blocks/block-statements.ts'
import { blocksOfParts, maxNewSpanMs, type RowsPart } from '../../tables/calls/blocks/call-block.ts'
import { addRowText, type CountRows } from '../../tables/calls/count-rows.ts'

/** A batch for one commit: call records and counts. */
export interface CallBatch {
  readonly parts: readonly RowsPart[]
  readonly counts: readonly CountRows[]
}

/** The thread's reply to a batch: empty if it was committed. */
export interface CallsWritten {
  readonly error?: string
  readonly code?: string | undefined
}

/** Returns a function that adds a batch in one commit, and calls `between` after each block and each count. */
export function batchInserter(
  database: Database.Database,
  between?: () => void,
): (batch: CallBatch) => void {
  const prepared = new Map<string, Database.Statement>()
  const run = ([text, parameters]: Statement): number => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement.run(parameters).changes
  }
  const nextNumber = database.prepare(nextNumberText).pluck()
  const inserting = database.transaction(({ parts, counts }: CallBatch) => {
    let no = nextNumber.get() as number
    let [blocks, added] = [0, 0]
    for (const block of blocksOfParts(parts, maxNewSpanMs)) {
      blocks++
      if (run(startOfBlock(block, no)) > 0) {
        for (const statement of restOfBlock(block, no)) run(statement)
        added++
        no++
      }
      between?.()
    }
    // If every block exists already, an earlier try was committed, and only its reply was lost.
    if (blocks > 0 && added === 0) return
    for (const { table, json } of counts) {
      const text = addRowText(table)
      for (const row of JSON.parse(json) as unknown[][]) {
        run([text, row])
        between?.()
      }
    }
  })
  return (batch) => inserting.immediate(batch)
}
