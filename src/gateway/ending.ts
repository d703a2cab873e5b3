import { Problem } from '../errors.ts'
import {
  callLogOf,
  CallMetrics,
  createAnnouncer,
  createRecorder,
  type Announcer,
} from '../calls/index.ts'
import { asStorageProblem } from '../store/index.ts'
import { notPassed, type Arrival, type Call, type Passed } from './call.ts'
import type { GatewayDeps } from './deps.ts'
import type { OpenCalls } from './open-calls.ts'
import { accessEntryOf, endedCall, spansOf, type Ended } from './told.ts'

/** How calls end: refused or answered, then counted, recorded and announced. */
export interface Ending extends AsyncDisposable {
  readonly announcer: Announcer
  /** Refuses a request whose key is not known: it is counted, and leaves no record. */
  refuseStranger(arrival: Arrival, error: unknown): void
  /** Refuses a call and takes it for over. */
  refuse(call: Call, error: unknown, passed?: Passed): void
  /** Takes a call for over; heard once. */
  finish(call: Call, passed: Passed): void
  forget(olderThanMs: number): Promise<void>
  flush(): Promise<void>
}

/** Opens the books of calls that end. */
export function createEnding(deps: GatewayDeps, openCalls: OpenCalls): Ending {
  const { store, clock, log, metrics, quotas, tracer, callLog, accessLog } = deps
  const announcer = createAnnouncer(store, clock)
  const recorder = createRecorder({
    ...{ store, clock, metrics, log },
    // Each is written though another can't be: the records of calls have a database of their own.
    besides: { quotas: () => quotas.flush(), announcements: () => announcer.flush(clock.now()) },
  })
  const callMetrics = new CallMetrics(metrics, { maxTargets: deps.metricsTargets })
  metrics.measured('intercept_calls_open', 'Calls under way.', () => openCalls.size)
  metrics.measured(
    'intercept_streams_open',
    'Event streams and taken-over connections (WebSockets) under way.',
    () => openCalls.streams(),
  )

  const isTold = accessLog !== undefined || tracer !== undefined

  /** The refusal that an error shows as; what is nobody's refusal is logged. */
  function problemOf(error: unknown, requestId: string): unknown {
    const problem = error instanceof Problem ? error : asStorageProblem(error)
    if (problem === undefined) {
      log.error({ err: error, request_id: requestId }, 'a call failed')
    } else if (problem.status >= 500) {
      const { code, cause } = problem
      const isStorage = code === 'storage_unavailable' || code === 'credential_unverifiable'
      if (isStorage) deps.refusedByStorage(cause)
      else log.warn({ code, err: cause, request_id: requestId }, 'a call was refused')
    }
    return problem ?? error
  }

  function tell(ended: Ended): void {
    accessLog?.add(accessEntryOf(ended))
    if (tracer) for (const span of spansOf(ended, tracer)) tracer.add(span)
  }

  function refuseStranger(arrival: Arrival, error: unknown): void {
    const { exchange, isQuestion, path } = arrival
    const problem = problemOf(error, exchange.requestId)
    exchange.refuse(problem, [], isQuestion)
    const { status, code } = problem instanceof Problem ? problem : new Problem('internal_error')
    const [target, principal] = [undefined, undefined]
    callMetrics.count({ status, refusal: code, target, principal }, undefined)
    if (!isTold) return
    const how = { method: exchange.method, path, status, refusal: code, check: 'shape' } as const
    tell({ arrival, ...how, nowMs: clock.now(), monotonicMs: clock.monotonic() })
  }

  function refuse(call: Call, error: unknown, passed = notPassed): void {
    const problem = problemOf(error, call.exchange.requestId)
    // A call that was cut off in the meantime keeps the refusal that its caller has seen.
    if (call.refusal === undefined) call.refuse(problem)
    finish(call, passed)
  }

  function finish(call: Call, passed: Passed): void {
    if (!call.end()) return
    const { principal, refusal } = call
    openCalls.remove(call, principal.keyId)
    const [nowMs, monotonicMs] = [clock.now(), clock.monotonic()]
    const record = call.record(passed, nowMs, monotonicMs)
    callMetrics.count(call, record)
    callLog?.add(callLogOf(record))
    recorder.record(record, principal, call.target?.settings.records ?? deps.callRecords)
    if (isTold) tell(endedCall(call, passed, { nowMs, monotonicMs }))
    if (refusal === undefined) return
    if (refusal === 'browser_origin_refused') announcer.exposed(record)
    announcer.refused(record)
  }

  return {
    announcer,
    refuseStranger,
    refuse,
    finish,
    forget: recorder.forget,
    flush: async () => await recorder.flush(),
    async [Symbol.asyncDispose]() {
      await recorder[Symbol.asyncDispose]()
      // The last flush: what was kept back for later has no later.
      await announcer.flush(Infinity).catch((err: unknown) => {
        log.error({ err }, 'what was to be announced of calls could not be written')
      })
    },
  }
}
