import type Database from 'better-sqlite3'
import { BlockMatcher, type BlockQuestion } from '../../tables/calls/blocks/block-match.ts'
import { recordsOf } from '../../tables/calls/blocks/call-block.ts'

/**
 * Defines the SQL functions that read blocks of call records, so that a slow read decodes blocks on its own thread. The
 * aggregate `newest_rows(rows, question)` returns the rows that match, newest first, as JSON; `keys_of(rows)` returns the
 * keys of a block's calls as a JSON array.
 */
export function addBlockFunctions(file: Database.Database): void {
  file.aggregate('newest_rows', {
    deterministic: true,
    start: () => undefined,
    // The types of the driver know aggregates of a single argument only.
    step: addRows as never,
    result: (matcher: unknown) =>
      JSON.stringify((matcher as BlockMatcher | undefined)?.newest() ?? []),
  })
  file.function('keys_of', { deterministic: true }, (rows: unknown) =>
    JSON.stringify([...new Set(recordsOf(rows as Uint8Array).map(({ keyId }) => keyId))]),
  )
}

function addRows(
  known: BlockMatcher | undefined,
  rows: Uint8Array,
  question: string,
): BlockMatcher {
  const matcher = known ?? new BlockMatcher(JSON.parse(question) as BlockQuestion)
  matcher.add(rows)
  return matcher
}
