import { auditContentColumns } from '../store/index.ts'
import type { AuditEntry } from './entries.ts'

/** Pages of entries, oldest first. */
export type AuditPages = AsyncIterable<readonly AuditEntry[]>

export async function* toJsonLines(pages: AuditPages): AsyncIterable<string> {
  for await (const page of pages) {
    if (page.length > 0) yield page.map(toJsonLine).join('')
  }
}

function toJsonLine({ at, requestId, ...entry }: AuditEntry): string {
  const line = { at: new Date(at).toISOString(), ...entry, request_id: requestId }
  return `${JSON.stringify(line)}\n`
}

const columns = ['sequence', 'at', ...auditContentColumns, 'hash'] as const

/** Renders entries as CSV (RFC 4180), a page at a time. */
export async function* toCsv(pages: AuditPages): AsyncIterable<string> {
  yield `${columns.join(',')}\r\n`
  for await (const page of pages) {
    if (page.length > 0) yield page.map(toCsvLine).join('')
  }
}

function toCsvLine(entry: AuditEntry): string {
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
  return `${cells.map(cell).join(',')}\r\n`
}

/**
 * Quotes one CSV cell (RFC 4180, section 2). Apostrophes keep a spreadsheet from evaluating text as a formula, even if
 * it splits the quoted cell at semicolons, tabs and line breaks, as some do.
 */
export function cell(text: string): string {
  const safe = text.replaceAll(/(?:^|(?<=[;\t\r\n]))(?=[=+\-@])|^(?=[\t\r\n])/g, "'")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
