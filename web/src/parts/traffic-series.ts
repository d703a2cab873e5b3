import { words } from '../../words/en.ts'
import type { Rollup } from '../api/traffic.ts'
import type { Series } from './chart/series.ts'

type Point = Rollup['points'][number]

/** Calls by outcome: answered, failed at the upstream, refused by one of our checks. */
export function trafficSeries(points: readonly Point[]): readonly Series[] {
  const bars = (id: 'passed' | 'errors' | 'refused', label: string, tone: Series['tone']) =>
    ({ id, label, tone, kind: 'bar', values: points.map((point) => point[id]) }) as const
  return [
    bars('passed', words.passed, 'flow'),
    bars('errors', words.upstreamErrors, 'caution'),
    bars('refused', words.refusedHere, 'refuse'),
  ]
}

export function latencySeries(points: readonly Point[]): readonly Series[] {
  const line = (id: 'p50_ms' | 'p95_ms' | 'p99_ms', label: string, tone: Series['tone']) =>
    ({ id, label, tone, kind: 'line', values: points.map((point) => point.latency?.[id]) }) as const
  return [
    line('p50_ms', words.latency.p50, 'flow'),
    line('p95_ms', words.latency.p95, 'accent'),
    line('p99_ms', words.latency.p99, 'muted'),
  ]
}

/** The 95th percentiles of the upstream's time and of the time we added. */
export function partSeries(points: readonly Point[]): readonly Series[] {
  const line = (id: 'upstream_p95_ms' | 'own_p95_ms', label: string, tone: Series['tone']) =>
    ({ id, label, tone, kind: 'line', values: points.map((point) => point[id]) }) as const
  return [
    line('upstream_p95_ms', words.latency.upstream, 'accent'),
    line('own_p95_ms', words.latency.own, 'flow'),
  ]
}

export function totals(points: readonly Point[]) {
  const sum = { passed: 0, errors: 0, refused: 0, all: 0 }
  for (const { passed, errors, refused } of points) {
    sum.passed += passed
    sum.errors += errors
    sum.refused += refused
    sum.all += passed + errors + refused
  }
  return sum
}
