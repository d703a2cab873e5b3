import type Database from 'better-sqlite3'
import { BlockMatcher, type BlockQuestion } from '../../tables/calls/blocks/block-match.ts'
import { recordsOf } from '../../tables/calls/blocks/call-block.ts'

/**
 * Defines the SQL functions that read blocks of call records, so that a slow read takes matching rows out of blocks on
 * its own thread: `matching_rows(rows, question)` returns them as JSON, or null if there are none, and `keys_of(rows)`
 * returns the keys of the calls as a JSON array.
 */
export function addBlockFunctions(file: Database.Database): void {
  let asked = ''
  let matcher: BlockMatcher | undefined
  file.function('matching_rows', { deterministic: true }, (rows: unknown, question: unknown) => {
    // A statement asks the same question of each block.
    if (question !== asked || matcher === undefined) {
      asked = String(question)
      matcher = new BlockMatcher(JSON.parse(asked) as BlockQuestion)
    }
    const found = matcher.match(rows as Uint8Array)
    return found.length === 0 ? null : JSON.stringify(found)
  })
  file.function('keys_of', { deterministic: true }, (rows: unknown) =>
    JSON.stringify([...new Set(recordsOf(rows as Uint8Array).map(({ keyId }) => keyId))]),
  )
}
