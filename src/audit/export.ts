import { auditContentColumns } from '../store/index.ts'
import type { AuditEntry } from './entries.ts'

/** Renders entries as JSON lines. */
export async function* toJsonLines(entries: AsyncIterable<AuditEntry>): AsyncIterable<string> {
  for await (const { at, requestId, ...entry } of entries) {
    const line = { at: new Date(at).toISOString(), ...entry, request_id: requestId }
    yield `${JSON.stringify(line)}\n`
  }
}

const columns = ['sequence', 'at', ...auditContentColumns, 'hash'] as const

/** Renders entries as CSV (RFC 4180). */
export async function* toCsv(entries: AsyncIterable<AuditEntry>): AsyncIterable<string> {
  yield `${columns.join(',')}\r\n`
  for await (const entry of entries) {
    const cells = [
      String(entry.sequence),
      new Date(entry.at).toISOString(),
      entry.actor.kind,
      entry.actor.id ?? '',
      entry.actor.name ?? '',
      entry.action,
      entry.subject.kind,
      entry.subject.id,
      JSON.stringify(entry.detail),
      entry.address ?? '',
      entry.requestId ?? '',
      entry.hash,
    ]
    yield `${cells.map(cell).join(',')}\r\n`
  }
}

/**
 * Quotes one CSV cell (RFC 4180, section 2). A spreadsheet would evaluate a cell that starts like a formula, so an
 * apostrophe keeps it text. The text gets apostrophes inside too, because some spreadsheets split even a quoted cell at
 * semicolons, tabs and line breaks.
 */
export function cell(text: string): string {
  const safe = text.replaceAll(/(?:^|(?<=[;\t\r\n]))(?=[=+\-@])|^(?=[\t\r\n])/g, "'")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
