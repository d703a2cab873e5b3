/** The registry of this process's counters, gauges and histograms, and of values measured at scrape time. */
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
  /** Adds 1, or `amount`, to the series with these labels. */
  add(labels?: Labels, amount?: number): void
}

export interface Histogram {
  /** Records one observation, in seconds. */
  observe(seconds: number, labels?: Labels): void
}

/** A metric's name, description and type, and how its values are combined across workers. */
export interface MetricAbout {
  readonly name: string
  readonly help: string
  readonly type: MetricType
  readonly across?: Across
}

/** All metrics of a process. Asking for a counter or histogram by the same name again returns the same one. */
export interface Metrics {
  /**
   * Creates a counter whose series exist from the start with the value 0: the given ones, or the one without labels.
   * Prometheus does not treat the first value of a series as an increase, so an alert would miss the event that creates
   * it.
   */
  counter(name: string, help: string, series?: readonly Labels[]): Counter
  /** Registers a value measured at scrape time; it is a counter if the name ends in `_total`, otherwise a gauge. */
  measured(name: string, help: string, measure: () => number): void
  /** Like `measured`, for a gauge that is combined across workers by maximum instead of sum. */
  highest(name: string, help: string, measure: () => number): void
  /** Registers series that are counted elsewhere and collected at scrape time. */
  collected(about: MetricAbout, collect: () => Iterable<CollectedSample>): void
  histogram(name: string, help: string): Histogram
  /**
   * Registers a function that every scrape runs first, to read values from the database. A scrape waits at most one
   * second for it. The function must not fail.
   */
  beforeScrape(refresh: () => Promise<void>): void
  /** Returns all metrics as data, without refreshing them first. */
  families(): readonly MetricFamily[]
  /** Refreshes all metrics and returns them as data. */
  scrape(): Promise<readonly MetricFamily[]>
  render(): string
}

interface Registered {
  readonly about: MetricAbout
  readonly metric: Counter | Histogram | undefined
  readonly collect: () => Iterable<CollectedSample>
}

/**
 * Maximum series per counter or histogram. More series indicate a mistake or an attack, so all further combinations of
 * labels share one series.
 */
const maxSeries = 2000
/** How long a scrape waits for refreshed values; after that, it returns the previous ones. */
const refreshWithinMs = 1000
const overflow: Labels = { overflow: 'true' }

export function createMetrics(): Metrics {
  return new Registry()
}

class Registry implements Metrics {
  readonly #registered = new Map<string, Registered>()
  readonly #refreshes: (() => Promise<void>)[] = []

  counter(name: string, help: string, series: readonly Labels[] = [{}]): Counter {
    return this.#once(name, () => {
      const values = new Map<string, { labels: Labels | undefined; value: number }>(
        series.map((labels) => [renderLabels(labels), { labels, value: 0 }]),
      )
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
    // A name is always registered by the same code, so the stored metric has the right type.
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

/** Renders a series' suffix and labels. A bucket's suffix also carries its bound, after a space: `_bucket le="0.1"`. */
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
