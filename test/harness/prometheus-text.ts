// Checks Prometheus' text format: with promtool where it is installed, and with the rules below everywhere.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { findProgram } from './proxy-program.ts'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parses a scrape strictly; throws if it violates the format. */
export function parseScrape(text: string): Sample[] {
  assert.ok(text.endsWith('\n'), 'the last line ends')
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const seen = new Set<string>()
  const samples: Sample[] = []
  for (const line of text.trimEnd().split('\n')) {
    const [, kind, about = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'HELP') {
      assert.ok(!helped.has(about) && rest !== '', line)
      helped.add(about)
    } else if (kind === 'TYPE') {
      assert.ok(!types.has(about) && /^(counter|gauge|histogram)$/.test(rest), line)
      types.set(about, rest)
      assert.equal(rest === 'counter', about.endsWith('_total'), line)
    } else {
      const sample = parseSample(line)
      const series = line.slice(0, line.lastIndexOf(' '))
      assert.ok(!seen.has(series), `twice: ${series}`)
      seen.add(series)
      const family = types.has(sample.name) ? sample.name : baseOf(sample.name)
      assert.ok(types.has(family) && helped.has(family), `without a type: ${line}`)
      samples.push(sample)
    }
  }
  return samples
}

/** Returns promtool's complaints about a scrape; undefined if promtool is not installed. */
export function promtoolFindings(text: string): string | undefined {
  const program = findProgram('promtool')
  if (program === undefined) return undefined
  const done = spawnSync(program, ['check', 'metrics'], { input: text, encoding: 'utf8' })
  return `${done.stdout}${done.stderr}`.trim()
}

/** Adds up a metric's series with these labels. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) =>
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}

function baseOf(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, '')
}

function parseSample(line: string): Sample {
  const match = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line)
  assert.ok(match, `no sample: ${line}`)
  const [, name = '', inside = '', value = ''] = match
  const labels: Record<string, string> = {}
  for (const [, key = '', text = ''] of inside.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)",?/g)) {
    labels[key] = text
  }
  assert.ok(Number.isFinite(Number(value)), line)
  return { name, labels, value: Number(value) }
}
