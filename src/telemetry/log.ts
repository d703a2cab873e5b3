/** Lines about what happens: one JSON object each, pretty on a terminal, without secrets. */
import { createRequire } from 'node:module'
import type pinoOf from 'pino'
import { prettyLine } from './pretty.ts'
import { redact } from './redact.ts'

const load = createRequire(import.meta.url)

type Write = (fields: object, text: string) => void

/** The log of a part of the product: fields first, then a sentence without values. */
export interface Log {
  debug: Write
  info: Write
  warn: Write
  error: Write
  fatal: Write
  /** The same log, with fields that every line then carries. */
  child(fields: Readonly<Record<string, unknown>>): Log
}

/** Opens the log on a stream. Lines are written at once, so that the last one before an end is there too. */
export function createLog(options: {
  level: string
  /** Where lines go; by default standard output. */
  write?: (line: string) => void
  /** For a person's eyes instead of a program's. */
  pretty?: boolean
}): Log {
  // Loaded with the first log: most commands have none.
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
      serializers: { err: pino.stdSerializers.errWithCause },
      hooks: { streamWrite: (line) => finish(redact(line)) },
    },
    destination,
  )
}
