/** What a process measured, as data: rendered for a scrape, or sent to the process that answers for several. */

export type MetricType = 'counter' | 'gauge' | 'histogram'

/**
 * How the values of several workers become one: most add up; what each of them sees of something they share (a queue
 * in the database) is the greatest.
 */
export type Across = 'sum' | 'max'

/** One metric with all its series. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: MetricType
  readonly across: Across
  /** What follows the name (suffix and labels), and the value. */
  readonly samples: readonly (readonly [series: string, value: number])[]
}

/** Label values by label name; keep them few: each combination is a series for ever. */
export type Labels = Readonly<Record<string, string>>

/** One series of a metric; the suffix `_bucket` carries its bound behind a space. */
export type CollectedSample = readonly [labels: Labels | undefined, value: number, suffix?: string]

/** The text for a scrape (Prometheus' text format, version 0.0.4). */
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

/** The families of several workers as one process would have them. */
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

function join(across: Across, one: number, other: number): number {
  return across === 'sum' ? one + other : Math.max(one, other)
}

/** Labels between braces; nothing when there are none. */
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
