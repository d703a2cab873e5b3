import { createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import type { Clock } from '../clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { redact } from './redact.ts'

/** Maximum bytes of lines waiting to be written; any beyond that are dropped and counted. */
const maxWaitingBytes = 16 * 1024 * 1024
/** Milliseconds after which a file that could not be written is tried again. */
const againAfterMs = 5000

/** A finished request as a line of the access log; undefined members are left out. */
export type AccessEntry = Readonly<Record<string, string | number | undefined>>

/** Writes one JSON line per request, without delaying requests. */
export interface AccessLog extends AsyncDisposable {
  add(entry: AccessEntry): void
}

interface AccessLogDeps {
  readonly destination: string
  readonly metrics: Metrics
  readonly clock: Pick<Clock, 'monotonic'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/**
 * Opens the access log. A `destination` other than `stdout` is the path of a file, to which lines are appended.
 */
export function openAccessLog(deps: AccessLogDeps): AccessLog {
  const dropped = deps.metrics.counter(
    'intercept_access_log_dropped_total',
    'Lines of the access log that were lost because they could not be written fast enough.',
  )
  if (deps.destination !== 'stdout') return new AccessLogFile(deps, dropped)
  return {
    add(entry) {
      if (process.stdout.writableLength > maxWaitingBytes) dropped.add()
      else process.stdout.write(lineOf(entry))
    },
    async [Symbol.asyncDispose]() {},
  }
}

function lineOf(entry: AccessEntry): string {
  return redact(`${JSON.stringify(entry)}\n`)
}

/** If the file cannot be written, for example because the disk is full, it is opened again some time later. */
class AccessLogFile implements AccessLog {
  readonly #deps: AccessLogDeps
  readonly #dropped: { add(): void }
  #stream: WriteStream
  #failedAt: number | undefined
  #isFailing = false

  constructor(deps: AccessLogDeps, dropped: { add(): void }) {
    this.#deps = deps
    this.#dropped = dropped
    this.#stream = this.#open()
  }

  add(entry: AccessEntry): void {
    if (this.#failedAt !== undefined) {
      if (this.#deps.clock.monotonic() - this.#failedAt < againAfterMs) return this.#dropped.add()
      this.#failedAt = undefined
      this.#stream = this.#open()
      // The last line may be incomplete, so the next one must start on a new line.
      this.#stream.write('\n')
    }
    if (this.#stream.writableLength > maxWaitingBytes) return this.#dropped.add()
    this.#stream.write(lineOf(entry), (error) => {
      if (error) this.#dropped.add()
      else if (this.#isFailing) this.#recovered()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#failedAt !== undefined) return
    this.#stream.end()
    await once(this.#stream, 'close').catch(() => undefined)
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#deps.destination, { flags: 'a', mode: 0o600 })
    return stream.on('error', (err) => {
      this.#failedAt = this.#deps.clock.monotonic()
      // The failure is logged once, not after each failed attempt.
      if (!this.#isFailing) this.#deps.log.error({ err }, 'the access log cannot be written')
      this.#isFailing = true
    })
  }

  #recovered(): void {
    this.#isFailing = false
    this.#deps.log.info({}, 'the access log is written again')
  }
}
