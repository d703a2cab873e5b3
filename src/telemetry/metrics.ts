/** The registry: counters, gauges and histograms, rendered in Prometheus' text format (version 0.0.4). */

/** Label values by label name; keep them few: each combination is a series for ever. */
export type Labels = Readonly<Record<string, string>>

export interface Counter {
  /** Adds to the series with these labels. */
  add(labels?: Labels, amount?: number): void
}

export interface Gauge {
  set(value: number, labels?: Labels): void
}

export interface Histogram {
  /** Counts one observation, in the unit that the name ends in. */
  observe(value: number, labels?: Labels): void
}

/** All metrics of a process. Asking twice for the same name gives the same metric. */
export interface Metrics {
  counter(name: string, help: string): Counter
  gauge(name: string, help: string): Gauge
  /** A value that is asked for when somebody looks; a counter if the name ends in `_total`. */
  measured(name: string, help: string, measure: () => number): void
  histogram(name: string, help: string, bounds?: readonly number[]): Histogram
  /** The text for a scrape. */
  render(): string
}

interface Family {
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly metric: Counter | Gauge | Histogram | undefined
  render(name: string): string[]
}

const secondsBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]
/** More series than this in one metric are a mistake or an attack: further ones are counted together. */
const maxSeries = 2000
const overflow: Labels = { overflow: 'true' }

/** A new, empty registry. */
export function createMetrics(): Metrics {
  const families = new Map<string, Family>()

  function once<T extends Counter | Gauge | Histogram>(
    name: string,
    make: () => Omit<Family, 'metric'> & { metric: T },
  ): T {
    const known = families.get(name)
    // A name has one maker, so what is known by it is of the maker's type.
    if (known !== undefined) return known.metric as T
    if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${name} is no name for a metric`)
    const family = make()
    families.set(name, family)
    return family.metric
  }

  return {
    counter: (name, help) =>
      once(name, () => {
        const series = createSeries(() => ({ value: 0 }))
        const metric: Counter = {
          add: (labels, amount = 1) => void (series.at(labels).value += amount),
        }
        return { help, type: 'counter', metric, render: (as) => renderValues(as, series) }
      }),
    gauge: (name, help) =>
      once(name, () => {
        const series = createSeries(() => ({ value: 0 }))
        const metric: Gauge = {
          set: (value, labels) => void (series.at(labels).value = value),
        }
        return { help, type: 'gauge', metric, render: (as) => renderValues(as, series) }
      }),
    measured: (name, help, measure) => {
      const render = (as: string) => [`${as} ${measure()}`]
      const type = name.endsWith('_total') ? 'counter' : 'gauge'
      families.set(name, { help, type, metric: undefined, render })
    },
    histogram: (name, help, bounds = secondsBounds) =>
      once(name, () => {
        const series = createSeries(() => ({
          counts: Array.from({ length: bounds.length + 1 }, () => 0),
          sum: 0,
        }))
        const metric: Histogram = {
          observe(value, labels) {
            const at = series.at(labels)
            const bucket = bounds.findIndex((bound) => value <= bound)
            const index = bucket === -1 ? bounds.length : bucket
            at.counts[index] = (at.counts[index] ?? 0) + 1
            at.sum += value
          },
        }
        return {
          help,
          type: 'histogram',
          metric,
          render: (as) => renderBuckets(as, series, bounds),
        }
      }),
    render: () =>
      [...families]
        .flatMap(([name, family]) => [
          `# HELP ${name} ${family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
          `# TYPE ${name} ${family.type}`,
          ...family.render(name),
        ])
        .join('\n')
        .concat('\n'),
  }
}

interface Series<T> {
  at(labels: Labels | undefined): T
  entries(): Iterable<[labels: string, state: T]>
}

function createSeries<T>(make: () => T): Series<T> {
  const states = new Map<string, T>()
  return {
    at(labels) {
      const key = labels === undefined ? '' : renderLabels(labels)
      const known = states.get(key)
      if (known !== undefined) return known
      const place = states.size < maxSeries ? key : renderLabels(overflow)
      const state = states.get(place) ?? make()
      states.set(place, state)
      return state
    },
    entries: () => states.entries(),
  }
}

function renderValues(name: string, series: Series<{ value: number }>): string[] {
  return [...series.entries()].map(([labels, { value }]) => `${name}${braces(labels)} ${value}`)
}

function renderBuckets(
  name: string,
  series: Series<{ counts: number[]; sum: number }>,
  bounds: readonly number[],
): string[] {
  return [...series.entries()].flatMap(([labels, { counts, sum }]) => {
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      const bound = `le="${bounds[index] ?? '+Inf'}"`
      return `${name}_bucket${braces(labels === '' ? bound : `${labels},${bound}`)} ${total}`
    })
    return [
      ...buckets,
      `${name}_sum${braces(labels)} ${sum}`,
      `${name}_count${braces(labels)} ${total}`,
    ]
  })
}

function braces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`
}

function renderLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeValue(value)}"`)
    .join(',')
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
