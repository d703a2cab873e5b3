import { Problem } from '../errors.ts'
import {
  callLogOf,
  CallMetrics,
  createAnnouncer,
  createRecorder,
  type Recorder,
  type Announcer,
} from '../calls/index.ts'
import { asStorageProblem } from '../store/index.ts'
import { notPassed, type Arrival, type Call, type Passed } from './call.ts'
import type { GatewayDeps } from './deps.ts'
import type { OpenCalls } from './open-calls.ts'
import { accessEntryOf, endedCall, spansOf, type Ended } from './reports.ts'

/** Ends calls: sends the refusal if there is one, then counts, records and reports the call. */
export interface Ending extends AsyncDisposable {
  readonly announcer: Announcer
  /** Refuses a request whose key was not identified. Such a request is counted, but has no call record. */
  refuseStranger(arrival: Arrival, error: unknown): void
  /** Refuses a call, unless it has been refused already, and finishes it. */
  readonly refuse: (call: Call, error: unknown, passed?: Passed) => void
  /** Counts, records and reports a call that has ended; does so only once per call. */
  readonly finish: (call: Call, passed: Passed) => void
  forget(olderThanMs: number): Promise<void>
  flush(): Promise<void>
}

export function createEnding(deps: GatewayDeps, openCalls: OpenCalls): Ending {
  return new CallEnding(deps, openCalls)
}

class CallEnding implements Ending {
  readonly announcer: Announcer
  readonly #deps: GatewayDeps
  readonly #openCalls: OpenCalls
  readonly #recorder: Recorder
  readonly #metrics: CallMetrics
  readonly #isReported: boolean

  constructor(deps: GatewayDeps, openCalls: OpenCalls) {
    const { store, clock, storeLog = deps.log, metrics, quotas } = deps
    this.#deps = deps
    this.#openCalls = openCalls
    this.#isReported = deps.accessLog !== undefined || deps.tracer !== undefined
    this.announcer = createAnnouncer(store, clock)
    const announce = async (): Promise<void> => await this.announcer.flush(clock.now())
    this.#recorder = createRecorder({
      ...{ store, clock, metrics, log: storeLog },
      // Each of these is flushed on its own, so that a failure of one does not stop the others or the call records.
      alsoFlush: { quotas: async () => await quotas.flush(), announcements: announce },
    })
    this.#metrics = new CallMetrics(metrics, { maxTargets: deps.metricsTargets })
    metrics.measured('intercept_calls_open', 'Calls under way.', () => openCalls.size)
    metrics.measured(
      'intercept_streams_open',
      'Event streams and taken-over connections (WebSockets) under way.',
      () => openCalls.streams(),
    )
  }

  refuseStranger(arrival: Arrival, error: unknown): void {
    const { exchange, isQuestion, path } = arrival
    const shown = this.#shown(error, exchange.requestId)
    exchange.refuse(shown, [], isQuestion)
    const { status, code } = shown instanceof Problem ? shown : new Problem('internal_error')
    const [target, principal] = [undefined, undefined]
    this.#metrics.count({ status, refusal: code, target, principal }, undefined)
    if (!this.#isReported) return
    const how = { method: exchange.method, path, status, refusal: code, check: 'shape' } as const
    this.#report({ arrival, ...how, endedAt: this.#deps.clock.monotonic() })
  }

  readonly refuse = (call: Call, error: unknown, passed: Passed = notPassed): void => {
    const shown = this.#shown(error, call.exchange.requestId)
    // A call that was cut off in the meantime keeps the refusal that its caller has already received.
    if (call.refusal === undefined) call.refuse(shown)
    this.finish(call, passed)
  }

  readonly finish = (call: Call, passed: Passed): void => {
    if (!call.end()) return
    const { clock, callLog, callRecords } = this.#deps
    const { principal, refusal } = call
    this.#openCalls.remove(call, principal.keyId)
    const endedAt = clock.monotonic()
    const record = call.record(passed, endedAt)
    this.#metrics.count(call, record)
    callLog?.add(callLogOf(record))
    this.#recorder.record(record, principal, call.target?.settings.records ?? callRecords)
    if (this.#isReported) this.#report(endedCall(call, passed, endedAt))
    if (refusal === undefined) return
    if (refusal === 'browser_origin_refused') this.announcer.exposed(record)
    this.announcer.refused(record)
  }

  async forget(olderThanMs: number): Promise<void> {
    await this.#recorder.forget(olderThanMs)
  }

  async flush(): Promise<void> {
    await this.#recorder.flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#recorder[Symbol.asyncDispose]()
    // The final flush also publishes what would normally be held back for later.
    await this.announcer.flush(Infinity).catch((err: unknown) => {
      const { log, storeLog = log } = this.#deps
      storeLog.error({ err }, 'what was to be announced of calls could not be written')
    })
  }

  #report(ended: Ended): void {
    const { accessLog, tracer } = this.#deps
    accessLog?.add(accessEntryOf(ended))
    if (tracer) for (const span of spansOf(ended, tracer)) tracer.add(span)
  }

  /**
   * Returns the problem to show for an error, or the error itself if it is a bug of ours. Logs the error unless the
   * caller caused it; refusals caused by a database outage are counted instead.
   */
  #shown(error: unknown, requestId: string): unknown {
    const { log, refusedByStorage } = this.#deps
    const problem = error instanceof Problem ? error : asStorageProblem(error)
    if (problem === undefined) {
      log.error({ err: error, request_id: requestId }, 'a call failed')
    } else if (problem.status >= 500) {
      const { code, cause } = problem
      const isStorage = code === 'storage_unavailable' || code === 'credential_unverifiable'
      if (isStorage) refusedByStorage(cause)
      else log.warn({ code, err: cause, request_id: requestId }, 'a call was refused')
    }
    return problem ?? error
  }
}
