import { createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import type { Metrics } from './metrics.ts'
import { redact } from './redact.ts'

/** Maximum bytes of lines waiting to be written; any beyond that are dropped and counted. */
const maxWaitingBytes = 16 * 1024 * 1024

/** A finished request as a line of the access log; undefined members are left out. */
export type AccessEntry = Readonly<Record<string, string | number | undefined>>

/** Writes one JSON line per request, without delaying requests. */
export interface AccessLog extends AsyncDisposable {
  add(entry: AccessEntry): void
}

/** Opens the access log on `stdout`, or on a file to which it appends. */
export function openAccessLog(deps: {
  readonly destination: string
  readonly metrics: Metrics
  readonly log: { error(fields: object, text: string): void }
}): AccessLog {
  const { destination, metrics, log } = deps
  const dropped = metrics.counter(
    'intercept_access_log_dropped_total',
    'Lines of the access log that were lost because they could not be written fast enough.',
  )
  const isFile = destination !== 'stdout'
  const stream: NodeJS.WritableStream & Pick<WriteStream, 'writableLength'> = isFile
    ? createWriteStream(destination, { flags: 'a', mode: 0o600 })
    : process.stdout
  let failed = false
  if (isFile) {
    stream.on('error', (err) => {
      failed = true
      log.error({ err }, 'the access log cannot be written')
    })
  }
  return {
    add(entry) {
      if (failed || stream.writableLength > maxWaitingBytes) dropped.add()
      else stream.write(redact(`${JSON.stringify(entry)}\n`))
    },
    async [Symbol.asyncDispose]() {
      if (!isFile || failed) return
      stream.end()
      await once(stream, 'close').catch(() => undefined)
    },
  }
}
