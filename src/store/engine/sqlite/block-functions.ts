import type Database from 'better-sqlite3'
import { BlockMatcher, type BlockQuestion } from '../../tables/calls/blocks/block-match.ts'

/**
 * Defines the SQL aggregate `newest_rows(rows, question)`, which reads blocks of call records and returns the rows that
 * match, newest first, as JSON. So a slow read decodes blocks on its own thread.
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
