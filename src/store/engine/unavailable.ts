import { Problem } from '../../errors.ts'
import { ChangeLostError } from '../feed/confirmation.ts'
import { MaybeCommittedError } from './commit-outcome.ts'

// SQLite result codes that mean that the database cannot be used now, and not that the statement is wrong.
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
// PostgreSQL error classes 08 (connection), 53 (resources), 57 (operator intervention) and 58 (system).
const postgres = /^(08|53|57|58)/
// PostgreSQL error classes 28 (the role, its password or pg_hba.conf) and 3D (no such database).
const keptOut = /^(?:28|3D)[0-9A-Z]{3}$/
// Node's error codes for a certificate that OpenSSL, or Node's own check of the host name, does not accept.
const certificate =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/
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
// Error codes of TLS and of closed sockets.
const transport = /^ERR_(SSL|STREAM|SOCKET)_/
const sentences =
  /timeout expired|timeout exceeded when trying to connect|timeout exceeded when waiting in the queue|query read timeout|connection terminated|client has encountered a connection error|connection is not open|driver has already been destroyed/i

// PostgreSQL's error codes for timeouts of a lock, a statement or an idle transaction; nothing was committed.
const waits = ['55P03', '57014', '25P03']
// A standby server, or a database in read-only mode (25006 read_only_sql_transaction).
const readOnly = ['25006', 'SQLITE_READONLY']
// Error codes that prove that nothing was changed: there was no connection, the transaction could not begin, or (EPIPE)
// a statement was never sent whole.
const notBegun = ['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', '53300', '57P03']
const notBegunSqlite = ['SQLITE_BUSY', 'SQLITE_CANTOPEN']
const inQueue = /timeout exceeded when (trying to connect|waiting in the queue)/

const refusedSqlite = /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)(?:_|$)/
// PostgreSQL error classes 22 (data exception), 23 (integrity constraint) and 54 (program limit exceeded).
const refusedPostgres = /^(?:22|23|54)[0-9A-Z]{3}$/

/** Whether a transaction failed only because of a timeout and changed nothing, so that it may be retried. */
export function isWaitTooLong(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return (typeof code === 'string' && waits.includes(code)) || inQueue.test(error.message)
}

/** Whether a transaction failed only because it waited too long for a lock (55P03 lock_not_available). */
export function isLockWaitTooLong(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '55P03'
}

/** Whether an error is one of those that prove that its transaction changed nothing. */
export function changedNothing(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  const isNotBegun = typeof code === 'string' && [...notBegun, ...notBegunSqlite].includes(code)
  return isNotBegun || isWaitTooLong(error)
}

/** Whether the database refused the data itself, so that writing the same again is pointless. */
export function isRefusedForGood(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && (refusedSqlite.test(code) || refusedPostgres.test(code))
}

/**
 * Whether the server cannot be used with the present settings: it rejects our login, it lacks the database, or we do
 * not accept its certificate. Trying again does not help until somebody mends that.
 */
export function isKeptOut(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && (keptOut.test(code) || certificate.test(code))
}

/**
 * Maps an error to a refusal if it means that the database is unavailable, for example because its disk is full; other
 * errors give undefined. A refusal without Retry-After means that something may have been changed: the client must look
 * before it repeats the request.
 */
export function asStorageProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof MaybeCommittedError) {
    return new Problem('storage_unavailable', maybeCommitted[error.outcome], { cause: error })
  }
  const { code } = error as { code?: unknown }
  const text = typeof code === 'string' ? code : ''
  const isUnavailable =
    sqlite.some((name) => text === `SQLITE_${name}` || text.startsWith(`SQLITE_${name}_`)) ||
    (text.length === 5 && postgres.test(text)) ||
    waits.includes(text) ||
    readOnly.includes(text) ||
    error instanceof ChangeLostError ||
    isKeptOut(error) ||
    network.includes(text) ||
    transport.test(text) ||
    sentences.test(error.message)
  if (!isUnavailable) return undefined
  return new Problem('storage_unavailable', sentenceOf(text, error), {
    cause: error,
    headers: { 'Retry-After': '1' },
  })
}

const maybeCommitted = {
  unknown:
    'The database went away while this was being saved: the change may have been made. Look before you repeat it.',
  unconfirmed:
    'The change was made, but the database went away before all nodes had confirmed it. Look before you repeat it.',
}

/** Returns the sentence that clients see; it never contains the error's own text. */
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
  if (isKeptOut(error)) return 'The database does not let this node in. Nothing was changed.'
  if (readOnly.includes(code)) return 'The database takes no writes. Nothing was changed.'
  if (isWaitTooLong(error)) {
    return 'The database is busy: this waited too long for others. Nothing was changed.'
  }
  return 'The database does not answer. Nothing was changed.'
}
