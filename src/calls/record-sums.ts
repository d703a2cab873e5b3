import type { callCounts, callSearch } from '../store/index.ts'
import type { SummedRow, Times } from './rollup.ts'

type SummedCall = callSearch.SummedCall

/** Sums calls as they are read, by step and by the check that stopped them, and collects their durations. */
export class RecordSums {
  readonly #from: number
  readonly #stepMs: number
  readonly #rows = new Map<string, { step: number; check: string; calls: number; errors: number }>()
  readonly all = new StepDurations()
  readonly upstream = new StepDurations()
  readonly own = new StepDurations()

  constructor({ from, stepMs }: { readonly from: number; readonly stepMs: number }) {
    this.#from = from
    this.#stepMs = stepMs
  }

  get rows(): readonly SummedRow[] {
    return [...this.#rows.values()]
  }

  add(call: SummedCall): void {
    const step = Math.floor((call.at - this.#from) / this.#stepMs)
    const check = call.stopped_at ?? ''
    const name = `${step} ${check}`
    const row = this.#rows.get(name) ?? { step, check, calls: 0, errors: 0 }
    this.#rows.set(name, row)
    row.calls++
    if (call.status >= 500) row.errors++
    this.all.add(step, call.duration_us)
    if (call.upstream_us !== null) this.upstream.add(step, call.upstream_us)
    this.own.add(step, call.duration_us - (call.upstream_us ?? 0))
  }
}

class StepDurations {
  readonly #steps = new Map<number, number[]>()

  add(step: number, us: number): void {
    const durations = this.#steps.get(step)
    if (durations === undefined) this.#steps.set(step, [us])
    else durations.push(us)
  }

  /** Returns the percentiles of each step and, under -1, those of all steps together. */
  percentiles(): Times {
    const all = [...this.#steps.values()].flat()
    const steps = all.length === 0 ? this.#steps : new Map([...this.#steps, [-1, all]])
    return new Map([...steps].map(([step, durations]) => [step, percentilesOf(durations)]))
  }
}

function percentilesOf(durations: readonly number[]) {
  const sorted = Float64Array.from(durations).sort()
  // Nearest rank: the smallest duration that at least this share of the calls did not exceed.
  const at = (percent: number) => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0
  return { p50: at(50), p95: at(95), p99: at(99) }
}

type TopRow = callCounts.TopRow
type By = 'key' | 'target' | 'code'

/** Counts calls as they are read, by key and by target, and failed and refused calls by code. */
export class RecordTops {
  readonly #counts: Readonly<
    Record<By, Map<string, { -readonly [name in keyof TopRow]: TopRow[name] }>>
  > = { key: new Map(), target: new Map(), code: new Map() }

  #calls = 0

  get calls(): number {
    return this.#calls
  }

  add(call: SummedCall): void {
    this.#calls++
    const isError =
      call.stopped_at === 'forward' || (call.stopped_at === null && call.status >= 500)
    const isRefused = call.stopped_at !== null && !isError
    this.#count('key', call.key_id, { isError, isRefused })
    if (call.target_id !== null) this.#count('target', call.target_id, { isError, isRefused })
    if (!isError && !isRefused) return
    this.#count('code', call.refusal ?? String(call.status), { isError, isRefused })
  }

  /** Returns the `limit` entries with the most calls, most first. */
  top(by: By, limit: number): TopRow[] {
    return [...this.#counts[by].values()]
      .toSorted((a, b) => b.calls - a.calls || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }

  #count(by: By, id: string, outcome: { isError: boolean; isRefused: boolean }): void {
    const row = this.#counts[by].get(id) ?? { id, calls: 0, refused: 0, errors: 0 }
    this.#counts[by].set(id, row)
    row.calls++
    if (outcome.isRefused) row.refused++
    if (outcome.isError) row.errors++
  }
}
