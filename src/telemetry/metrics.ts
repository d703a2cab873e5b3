/** The registry: counters, gauges and histograms of this process, and values that are asked for at a scrape. */
import {
  renderFamilies,
  renderLabels,
  type Across,
  type CollectedSample,
  type Labels,
  type MetricFamily,
  type MetricType,
} from './exposition.ts'
import { LatencyTable } from './latency-table.ts'

export interface Counter {
  /** Adds to the series with these labels. */
  add(labels?: Labels, amount?: number): void
}

export interface Histogram {
  /** Counts one observation, in seconds. */
  observe(seconds: number, labels?: Labels): void
}

/** What a metric is called and what it says. */
export interface MetricAbout {
  readonly name: string
  readonly help: string
  readonly type: MetricType
  readonly across?: Across
}

/** All metrics of a process. Asking twice for the same name gives the same metric. */
export interface Metrics {
  counter(name: string, help: string): Counter
  /** A value that is asked for when somebody looks; a counter if the name ends in `_total`. */
  measured(name: string, help: string, measure: () => number): void
  /** The same for a gauge of which the highest of all workers counts, not the sum. */
  highest(name: string, help: string, measure: () => number): void
  /** Series that somebody else counts, asked for when somebody looks. */
  collected(about: MetricAbout, collect: () => Iterable<CollectedSample>): void
  histogram(name: string, help: string): Histogram
  /** Is awaited before each scrape: for what must be read from the database first. It must not fail. */
  beforeScrape(refresh: () => Promise<void>): void
  /** Everything as data. */
  families(): readonly MetricFamily[]
  /** Refreshes, and gives everything as data. */
  scrape(): Promise<readonly MetricFamily[]>
  /** The text of what is known now. */
  render(): string
}

interface Registered {
  readonly about: MetricAbout
  readonly metric: Counter | Histogram | undefined
  readonly collect: () => Iterable<CollectedSample>
}

/** More series than this in one metric are a mistake or an attack: further ones are counted together. */
const maxSeries = 2000
/** Whoever scrapes hears what was known before, rather than nothing. */
const refreshWithinMs = 1000
const overflow: Labels = { overflow: 'true' }

/** A new, empty registry. */
export function createMetrics(): Metrics {
  return new Registry()
}

class Registry implements Metrics {
  readonly #registered = new Map<string, Registered>()
  readonly #refreshes: (() => Promise<void>)[] = []

  counter(name: string, help: string): Counter {
    return this.#once(name, () => {
      const values = new Map<string, { labels: Labels | undefined; value: number }>()
      const metric: Counter = {
        add(labels, amount = 1) {
          seriesAt(values, labels, (kept) => ({ labels: kept, value: 0 })).value += amount
        },
      }
      const about = { name, help, type: 'counter' } as const
      const collect = () => [...values.values()].map((one) => [one.labels, one.value] as const)
      return { about, metric, collect }
    })
  }

  measured(name: string, help: string, measure: () => number): void {
    const type = name.endsWith('_total') ? 'counter' : 'gauge'
    this.collected({ name, help, type, across: 'sum' }, () => [[undefined, measure()]])
  }

  highest(name: string, help: string, measure: () => number): void {
    this.collected({ name, help, type: 'gauge', across: 'max' }, () => [[undefined, measure()]])
  }

  collected(about: MetricAbout, collect: () => Iterable<CollectedSample>): void {
    checkName(about.name)
    this.#registered.set(about.name, { about, metric: undefined, collect })
  }

  histogram(name: string, help: string): Histogram {
    return this.#once(name, () => {
      const rows = new Map<string, { labels: Labels | undefined; row: number }>()
      const table = new LatencyTable()
      const metric: Histogram = {
        observe(seconds, labels) {
          const { row } = seriesAt(rows, labels, (kept) => ({ labels: kept, row: table.addRow() }))
          table.observe(row, seconds * 1e6)
        },
      }
      const about = { name, help, type: 'histogram' } as const
      const collect = () => [...rows.values()].flatMap((one) => table.samples(one.row, one.labels))
      return { about, metric, collect }
    })
  }

  beforeScrape(refresh: () => Promise<void>): void {
    this.#refreshes.push(refresh)
  }

  families(): readonly MetricFamily[] {
    return [...this.#registered.values()].map(({ about, collect }) => ({
      across: 'sum',
      ...about,
      samples: [...collect()].map(
        ([labels, value, suffix = '']) => [suffixed(suffix, labels), value] as const,
      ),
    }))
  }

  async scrape(): Promise<readonly MetricFamily[]> {
    const refreshed = Promise.all(this.#refreshes.map(async (refresh) => await refresh()))
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, refreshWithinMs)
    await Promise.race([refreshed, late])
    clearTimeout(timer)
    return this.families()
  }

  render(): string {
    return renderFamilies(this.families())
  }

  #once<T extends Counter | Histogram>(
    name: string,
    make: () => Registered & { readonly metric: T },
  ): T {
    const known = this.#registered.get(name)
    // A name has one maker, so what is known by it is of the maker's type.
    if (known !== undefined) return known.metric as T
    checkName(name)
    const made = make()
    this.#registered.set(name, made)
    return made.metric
  }
}

function checkName(name: string): void {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${name} is no name for a metric`)
}

/** `_bucket` carries its bound behind a space: `_bucket le="0.1"`. */
function suffixed(suffix: string, labels: Labels | undefined): string {
  const [name = '', bound = ''] = suffix.split(' ')
  return `${name}${renderLabels(labels, bound)}`
}

function seriesAt<T>(
  series: Map<string, T>,
  labels: Labels | undefined,
  make: (labels: Labels | undefined) => T,
): T {
  const key = renderLabels(labels)
  const known = series.get(key)
  if (known !== undefined) return known
  const isFull = series.size >= maxSeries
  const place = isFull ? renderLabels(overflow) : key
  const state = series.get(place) ?? make(isFull ? overflow : labels)
  series.set(place, state)
  return state
}
