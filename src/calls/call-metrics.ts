import { problems, type ProblemCode } from '../errors.ts'
import type { CallRecord } from '../store/index.ts'
import {
  LatencyTable,
  type CollectedSample,
  type Labels,
  type Metrics,
} from '../telemetry/index.ts'

/** The attributes by which a finished call is counted. */
export interface EndedCall {
  readonly status: number
  readonly refusal: ProblemCode | undefined
  readonly target: { readonly id: string; readonly slug: string } | undefined
  readonly principal: { readonly organizationSlug: string } | undefined
}

// Status 0 means that the caller left before the response.
const classes = ['gone', '1xx', '2xx', '3xx', '4xx', '5xx'] as const
const codes = Object.keys(problems) as ProblemCode[]
const codeAt = new Map(codes.map((code, at) => [code, at]))
const upstreamCodes = ['upstream_unreachable', 'upstream_invalid', 'upstream_timeout'] as const
/** The rows of calls without a target, and of calls to targets without a row of their own. */
const noTarget = 0
const otherTargets = 1

/**
 * Counts calls by target, status class and refusal, with their latencies. `count` runs for every call, so the arrays
 * are allocated beforehand; `maxTargets` bounds the number of series.
 */
export class CallMetrics {
  readonly #maxTargets: number
  readonly #rowOf = new Map<string, number>()
  readonly #labels: Labels[]
  readonly #calls: Float64Array
  readonly #refused: Float64Array
  readonly #whole: LatencyTable
  readonly #upstream: LatencyTable
  #lastId = ''
  #lastRow = noTarget

  constructor(metrics: Metrics, options: { readonly maxTargets: number }) {
    this.#maxTargets = options.maxTargets
    const rows = options.maxTargets + 2
    this.#labels = [
      { organization: '', target: '' },
      { organization: '(other)', target: '(other)' },
    ]
    this.#calls = new Float64Array(rows * classes.length)
    this.#refused = new Float64Array(rows * codes.length)
    this.#whole = new LatencyTable(rows * classes.length)
    this.#upstream = new LatencyTable(rows)
    this.#register(metrics)
  }

  /** Counts a call; `record` is undefined if the caller was not identified. */
  count(call: EndedCall, record: CallRecord | undefined): void {
    const row = this.#rowFor(call)
    const cell = row * classes.length + Math.floor(call.status / 100)
    this.#calls[cell] = (this.#calls[cell] ?? 0) + 1
    if (call.refusal !== undefined) {
      const at = row * codes.length + (codeAt.get(call.refusal) ?? 0)
      this.#refused[at] = (this.#refused[at] ?? 0) + 1
    }
    if (record === undefined) return
    this.#whole.observe(cell, record.durationUs)
    if (record.upstreamUs !== undefined) this.#upstream.observe(row, record.upstreamUs)
  }

  #rowFor({ target, principal }: EndedCall): number {
    if (target === undefined) return noTarget
    // Most calls go to the same target as the previous one.
    if (target.id === this.#lastId) return this.#lastRow
    let row = this.#rowOf.get(target.id)
    if (row === undefined) {
      row = this.#rowOf.size < this.#maxTargets ? this.#labels.length : otherTargets
      if (row === otherTargets) return row
      this.#labels.push({ organization: principal?.organizationSlug ?? '', target: target.slug })
      this.#rowOf.set(target.id, row)
    }
    this.#lastId = target.id
    this.#lastRow = row
    return row
  }

  #register(metrics: Metrics): void {
    metrics.collected(
      {
        name: 'intercept_calls_total',
        help: 'Guarded calls that ended, by target and class of status; gone: the caller left first.',
        type: 'counter',
      },
      () => this.#counts(this.#calls, 'status_class', classes),
    )
    metrics.collected(
      {
        name: 'intercept_calls_refused_total',
        help: 'Guarded calls that Intercept refused, by target and code.',
        type: 'counter',
      },
      () => this.#counts(this.#refused, 'code', codes),
    )
    metrics.collected(
      {
        name: 'intercept_upstream_errors_total',
        help: 'Calls that failed because of their upstream, by target and code.',
        type: 'counter',
      },
      () => this.#upstreamErrors(),
    )
    metrics.collected(
      {
        name: 'intercept_call_seconds',
        help: 'How long a call took as its caller saw it, from the first check to the last byte.',
        type: 'histogram',
      },
      () =>
        this.#labels.flatMap((labels, row) =>
          classes.flatMap((status_class, at) =>
            this.#whole.samples(row * classes.length + at, { ...labels, status_class }),
          ),
        ),
    )
    metrics.collected(
      {
        name: 'intercept_upstream_seconds',
        help: 'How long an upstream took until the head of its response, connecting included.',
        type: 'histogram',
      },
      () => this.#labels.flatMap((labels, row) => this.#upstream.samples(row, labels)),
    )
  }

  /** Exports counts above zero: a counter that was never incremented for a target has no series. */
  #counts(cells: Float64Array, label: string, values: readonly string[]): CollectedSample[] {
    return this.#labels.flatMap((labels, row) =>
      values.flatMap((value, at): CollectedSample[] => {
        const count = cells[row * values.length + at] ?? 0
        return count === 0 ? [] : [[{ ...labels, [label]: value }, count]]
      }),
    )
  }

  /** Exports each target's upstream failures, even if there are none, so that the first one shows up as an increase. */
  #upstreamErrors(): CollectedSample[] {
    return this.#labels.flatMap((labels, row) => {
      if (row === noTarget || (row === otherTargets && this.#rowOf.size < this.#maxTargets))
        return []
      return upstreamCodes.map((code): CollectedSample => {
        const count = this.#refused[row * codes.length + (codeAt.get(code) ?? 0)] ?? 0
        return [{ ...labels, code }, count]
      })
    })
  }
}
