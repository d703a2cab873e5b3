/** Logs what happens: one JSON object per line, or lines for people, with secrets masked. */
import { createRequire } from 'node:module'
import type pinoOf from 'pino'
import { prettyLine } from './pretty.ts'
import { redact } from './redact.ts'

const load = createRequire(import.meta.url)

type Write = (fields: object, text: string) => void

/** The log of one part of the product: fields come first, then a message without values. */
export interface Log {
  debug: Write
  info: Write
  warn: Write
  error: Write
  fatal: Write
  /** The same log, with these fields added to every line. */
  child(fields: Readonly<Record<string, unknown>>): Log
}

/** Creates the log. Lines are written synchronously, so that the last one before an exit is not lost. */
export function createLog(options: {
  level: string
  /** Writes one line; defaults to standard output. */
  write?: (line: string) => void
  /** Formats lines for people instead of programs. */
  pretty?: boolean
}): Log {
  // pino is loaded only when the first log is created, because many commands create none.
  const pino = load('pino') as typeof pinoOf
  const finish = options.pretty === true ? prettyLine : (line: string) => line
  const destination =
    options.write === undefined ? pino.destination({ fd: 1, sync: true }) : { write: options.write }
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
      serializers: { err: (err: Error) => withoutRows(pino.stdSerializers.errWithCause(err)) },
      hooks: { streamWrite: (line) => finish(redact(line)) },
    },
    destination,
  )
}

const maxCauses = 10

/**
 * Removes the row that PostgreSQL quotes in some errors, because the row may contain captured bodies or people's names.
 */
function withoutRows(shown: object): object {
  let error: unknown = shown
  for (let depth = 0; depth < maxCauses && typeof error === 'object' && error !== null; depth++) {
    const part = error as { severity?: unknown; detail?: unknown; where?: unknown; cause?: unknown }
    if (typeof part.severity === 'string') {
      delete part.detail
      delete part.where
    }
    error = part.cause
  }
  return shown
}
