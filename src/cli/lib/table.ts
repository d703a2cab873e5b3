import { printableInLine } from './terminal.ts'

/** Rows under their headings, in columns; what a person reads where `--json` gives a list. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): string {
  if (rows.length === 0) return whenEmpty
  // Names are other people's words: none of them forges a row.
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

/** A time for `--json`: ISO 8601, or null. */
export function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

/** A time for a person: to the second, in UTC; a dash for none. */
export function shortTime(ms: number | undefined): string {
  return ms === undefined ? '–' : new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}
