import { printableInLine } from './terminal.ts'

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
