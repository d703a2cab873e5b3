import type { callCounts, callSearch } from '../store/index.ts'
import type { SummedRow, Times } from './rollup.ts'

type Glance = callSearch.CallGlance

/** Sums up calls as they are looked at: by step and by how they ended, with how long they took. */
export class RecordSums {
  readonly #from: number
  readonly #stepMs: number
  readonly #rows = new Map<string, { step: number; check: string; calls: number; errors: number }>()
  readonly all = new TimesOfSteps()
  readonly upstream = new TimesOfSteps()
  readonly own = new TimesOfSteps()

  constructor({ from, stepMs }: { readonly from: number; readonly stepMs: number }) {
    this.#from = from
    this.#stepMs = stepMs
  }

  get rows(): readonly SummedRow[] {
    return [...this.#rows.values()]
  }

  add(call: Glance): void {
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

/** How long the calls of each step took. */
class TimesOfSteps {
  readonly #steps = new Map<number, number[]>()

  add(step: number, us: number): void {
    const known = this.#steps.get(step)
    if (known === undefined) this.#steps.set(step, [us])
    else known.push(us)
  }

  /** The percentiles of each step, and of all of them (-1). */
  percentiles(): Times {
    const every = [...this.#steps.values()].flat()
    const steps = every.length === 0 ? this.#steps : new Map([...this.#steps, [-1, every]])
    return new Map([...steps].map(([step, times]) => [step, ranked(times)]))
  }
}

function ranked(times: readonly number[]) {
  const sorted = Float64Array.from(times).sort()
  // By nearest rank: the smallest that this share of all does not exceed.
  const at = (share: number) => sorted[Math.ceil((sorted.length * share) / 100) - 1] ?? 0
  return { p50: at(50), p95: at(95), p99: at(99) }
}

type TopRow = callCounts.TopRow
type By = 'key' | 'target' | 'code'

/** Counts calls, as they are looked at, by what most of them have in common. */
export class RecordTops {
  readonly #counts: Readonly<
    Record<By, Map<string, { -readonly [name in keyof TopRow]: TopRow[name] }>>
  > = { key: new Map(), target: new Map(), code: new Map() }

  #calls = 0

  get calls(): number {
    return this.#calls
  }

  add(call: Glance): void {
    this.#calls++
    const isError =
      call.stopped_at === 'forward' || (call.stopped_at === null && call.status >= 500)
    const isRefused = call.stopped_at !== null && !isError
    this.#count('key', call.key_id, { isError, isRefused })
    if (call.target_id !== null) this.#count('target', call.target_id, { isError, isRefused })
    if (!isError && !isRefused) return
    this.#count('code', call.refusal ?? String(call.status), { isError, isRefused })
  }

  /** The first so many, those with the most calls first. */
  top(by: By, limit: number): TopRow[] {
    return [...this.#counts[by].values()]
      .toSorted((a, b) => b.calls - a.calls || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }

  #count(by: By, id: string, how: { isError: boolean; isRefused: boolean }): void {
    const row = this.#counts[by].get(id) ?? { id, calls: 0, refused: 0, errors: 0 }
    this.#counts[by].set(id, row)
    row.calls++
    if (how.isRefused) row.refused++
    if (how.isError) row.errors++
  }
}
