/** The measurements of a process as data, to be rendered for a scrape or sent to the supervisor of several workers. */

export type MetricType = 'counter' | 'gauge' | 'histogram'

/**
 * How a metric's values are combined across workers: added, or reduced to their maximum (for example, where every
 * worker measures the same queue in the database).
 */
export type Across = 'sum' | 'max'

/** One metric with all its series. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: MetricType
  readonly across: Across
  /** For each series, the rest of its name (suffix and labels) and its value. */
  readonly samples: readonly (readonly [series: string, value: number])[]
}

/** Label values by label name. Keep them few, because each combination stays a series forever. */
export type Labels = Readonly<Record<string, string>>

/**
 * The value of one series of a metric; a bucket's suffix is `_bucket`, a space and the label with the bucket's bound.
 */
export type CollectedSample = readonly [labels: Labels | undefined, value: number, suffix?: string]

/** Renders metrics for a scrape (Prometheus text format 0.0.4). */
export function renderFamilies(families: readonly MetricFamily[]): string {
  return families
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(([series, value]) => `${name}${series} ${value}`),
    ])
    .join('\n')
    .concat('\n')
}

/** Merges the families of several workers into those of a single process. */
export function mergeFamilies(
  workers: readonly (readonly MetricFamily[])[],
): readonly MetricFamily[] {
  const merged = new Map<string, { family: MetricFamily; values: Map<string, number> }>()
  for (const family of workers.flat()) {
    const known = merged.get(family.name)
    if (known === undefined) {
      merged.set(family.name, { family, values: new Map(family.samples) })
      continue
    }
    for (const [series, value] of family.samples) {
      const before = known.values.get(series)
      known.values.set(series, before === undefined ? value : join(family.across, before, value))
    }
  }
  return [...merged.values()].map(({ family, values }) => ({ ...family, samples: [...values] }))
}

/**
 * Remembers the latest counters of each worker, so that their sum never falls when a worker ends or does not answer a
 * scrape. If the sum fell, Prometheus would assume that counting had restarted at 0, and would count everything twice.
 */
export class CountedOfWorkers {
  readonly #latest = new Map<number, readonly MetricFamily[]>()
  #ofEnded: readonly MetricFamily[] = []

  /**
   * Merges the families of the workers that answered, and adds the last known counters of all others, even of those
   * that have ended. `living` are the ids of the workers that have not ended.
   */
  merge(
    answers: ReadonlyMap<number, readonly MetricFamily[]>,
    living: ReadonlySet<number>,
  ): readonly MetricFamily[] {
    // Ignores the answer of a worker that has ended since, and uses its previous counters: a concurrent scrape may
    // already have added these to `#ofEnded`, and both would be counted.
    const heard = new Map([...answers].filter(([id]) => living.has(id)))
    for (const [id, families] of heard) {
      this.#latest.set(
        id,
        families.filter(({ type }) => type !== 'gauge'),
      )
    }
    const silent: (readonly MetricFamily[])[] = []
    for (const [id, counted] of this.#latest) {
      if (heard.has(id)) continue
      if (living.has(id)) silent.push(counted)
      else {
        this.#ofEnded = mergeFamilies([this.#ofEnded, counted])
        this.#latest.delete(id)
      }
    }
    return mergeFamilies([...heard.values(), ...silent, this.#ofEnded])
  }
}

function join(across: Across, one: number, other: number): number {
  return across === 'sum' ? one + other : Math.max(one, other)
}

/**
 * Renders labels in braces, with `more`, an already rendered label, as the last one; returns an empty text if there are
 * no labels.
 */
export function renderLabels(labels: Labels | undefined, more = ''): string {
  const parts = Object.entries(labels ?? {}).map(
    ([name, value]) => `${name}="${escapeValue(value)}"`,
  )
  if (more !== '') parts.push(more)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
