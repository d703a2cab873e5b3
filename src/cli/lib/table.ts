import { printableInLine, type Terminal } from './terminal.ts'

/** The most entries that a command prints of a list that may be long, such as keys or calls. */
export const maxListed = 1000

/** Formats rows under headings in columns, for people; `--json` prints a list instead. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): string {
  if (rows.length === 0) return whenEmpty
  // Names are user input, which must not be able to forge a row.
  const shown = rows.map((row) => row.map(printableInLine))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...shown.map((row) => (row[column] ?? '').length)),
  )
  return [headings, ...shown]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats a time for `--json`: ISO 8601, or null. */
export function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

/** Formats a time for people: to the second, in UTC; a dash if there is none. */
export function shortTime(ms: number | undefined): string {
  return ms === undefined ? '–' : new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * Returns the first `maxListed` entries of a list. If there are more, says so on standard error, where it doesn't disturb
 * `--json`; `more` is a sentence that says how to find the others.
 */
export async function firstListed<T>(
  terminal: Terminal,
  list: (limit: number) => Promise<readonly T[]>,
  more = '',
): Promise<readonly T[]> {
  const found = await list(maxListed + 1)
  if (found.length <= maxListed) return found
  terminal.complain(`Only the first ${maxListed} are listed; there are more. ${more}`.trimEnd())
  return found.slice(0, maxListed)
}
