import { Problem } from '../../errors.ts'
import { ChangeLostError } from '../feed/confirmation.ts'

// Result codes of SQLite that say "not now", and not "that statement is wrong".
const sqlite = [
  'BUSY',
  'LOCKED',
  'FULL',
  'IOERR',
  'CANTOPEN',
  'READONLY',
  'CORRUPT',
  'PROTOCOL',
  'NOTADB',
]
// PostgreSQL's classes 08 (connection), 53 (resources), 57 (operator intervention), 58 (system).
const postgres = /^(08|53|57|58)/
const network = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ECONNABORTED',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENETRESET',
  'ENOTCONN',
  'EPROTO',
]
// Of TLS and of sockets that are gone: a commit may have been on its way, and nothing may be run again.
const transport = /^ERR_(SSL|STREAM|SOCKET)_/
const sentences =
  /timeout expired|timeout exceeded when trying to connect|timeout exceeded when waiting in the queue|query read timeout|connection terminated|client has encountered a connection error|connection is not open|driver has already been destroyed/i

// A lock or a place in the queue did not come in time, and the server undid what was begun (57014: a statement's time).
const waits = ['55P03', '57014', '25P03']
// A standby, or a database that was set to take no writes (25006 read_only_sql_transaction).
const readOnly = ['25006', 'SQLITE_READONLY']
const inQueue = /timeout exceeded when (trying to connect|waiting in the queue)/

/** Whether a work failed only because others were before it: nothing was changed, and it may be tried again. */
export function isWaitTooLong(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return (typeof code === 'string' && waits.includes(code)) || inQueue.test(error.message)
}

/** The refusal for a database that does not answer (or a disk that is full), if an error says so. */
export function asStorageProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  const text = typeof code === 'string' ? code : ''
  const isUnavailable =
    sqlite.some((name) => text === `SQLITE_${name}` || text.startsWith(`SQLITE_${name}_`)) ||
    (text.length === 5 && postgres.test(text)) ||
    waits.includes(text) ||
    readOnly.includes(text) ||
    error instanceof ChangeLostError ||
    network.includes(text) ||
    transport.test(text) ||
    sentences.test(error.message)
  if (!isUnavailable) return undefined
  return new Problem('storage_unavailable', sentenceOf(text, error), {
    cause: error,
    headers: { 'Retry-After': '1' },
  })
}

/** What is wrong, as far as the error says it. */
function sentenceOf(code: string, error: Error): string {
  if (error instanceof ChangeLostError) {
    return 'The database was replaced by an older copy, which does not have this change. Look, and make it again.'
  }
  // 53100 disk_full.
  if (code.startsWith('SQLITE_FULL') || code === '53100') {
    return 'The disk of the database is full. Nothing was changed.'
  }
  // 53300 too_many_connections.
  if (code === '53300') return 'The database has no connection left. Nothing was changed.'
  if (readOnly.includes(code)) return 'The database takes no writes. Nothing was changed.'
  if (isWaitTooLong(error)) {
    return 'The database is busy: this waited too long for others. Nothing was changed.'
  }
  return 'The database does not answer. Nothing was changed.'
}
