import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CountedOfWorkers, mergeFamilies, renderFamilies } from './exposition.ts'
import { createMetrics } from './metrics.ts'

describe('metrics', () => {
  test('counters, gauges and histograms render as Prometheus reads them', () => {
    const metrics = createMetrics()
    const calls = metrics.counter('calls_total', 'Calls.', [])
    calls.add({ status: '200' })
    calls.add({ status: '200' }, 2)
    calls.add({ status: '401' })
    metrics.measured('up', 'Up.', () => 1)
    assert.equal(
      metrics.render(),
      `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{status="200"} 3
calls_total{status="401"} 1
# HELP up Up.
# TYPE up gauge
up 1
`,
    )
  })

  test('the series of a counter begin with 0, so that the first event is an increase', () => {
    const metrics = createMetrics()
    metrics.counter('dropped_total', 'Dropped.')
    metrics.counter('changes_total', 'Changes.', [{ reason: 'lost' }, { reason: 'other' }])
    const lines = () => metrics.render().split('\n')
    assert.ok(lines().includes('dropped_total 0'))
    assert.ok(lines().includes('changes_total{reason="lost"} 0'))
    metrics.counter('changes_total', 'Changes.').add({ reason: 'lost' })
    assert.ok(lines().includes('changes_total{reason="lost"} 1'))
    assert.ok(lines().includes('changes_total{reason="other"} 0'))
  })

  test('a histogram counts each observation in its bucket and all above', () => {
    const metrics = createMetrics()
    const took = metrics.histogram('took_seconds', 'Took.')
    for (const seconds of [0.05, 0.1, 5, 100]) took.observe(seconds)
    const text = metrics.render()
    assert.match(text, /^took_seconds_bucket\{le="0.025"\} 0$/m)
    assert.match(text, /^took_seconds_bucket\{le="0.1"\} 2$/m)
    assert.match(text, /^took_seconds_bucket\{le="60"\} 3$/m)
    assert.match(
      text,
      /^took_seconds_bucket\{le="\+Inf"\} 4\ntook_seconds_sum 105.15\ntook_seconds_count 4$/m,
    )
  })

  test('several workers are one: counts add up, what they see in common is the greatest', () => {
    const workers = [3, 4].map((calls) => {
      const metrics = createMetrics()
      metrics.counter('calls_total', 'Calls.', []).add({ status: '200' }, calls)
      metrics.highest('queue', 'Queue.', () => calls)
      return metrics.families()
    })
    const text = renderFamilies(mergeFamilies(workers))
    assert.match(text, /^calls_total\{status="200"\} 7$/m)
    assert.match(text, /^queue 4$/m)
  })

  test('the counts of a worker stay in the sum when it does not answer and when it has ended', () => {
    const familiesOf = (calls: number) => {
      const metrics = createMetrics()
      metrics.counter('calls_total', 'Calls.').add(undefined, calls)
      metrics.histogram('took', 'Took.').observe(0.1)
      metrics.measured('open', 'Open.', () => calls)
      return metrics.families()
    }
    const workers = new CountedOfWorkers()
    const merged = (living: readonly number[], answers: Readonly<Record<number, number>>) => {
      const reports = Object.entries(answers).map(
        ([id, calls]) => [Number(id), familiesOf(calls)] as const,
      )
      const text = renderFamilies(workers.merge(new Map(reports), new Set(living)))
      return ['calls_total', 'took_count', 'open'].map((name) =>
        Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]),
      )
    }
    assert.deepEqual(merged([1, 2], { 1: 3, 2: 4 }), [7, 2, 7])
    assert.deepEqual(merged([1, 2], { 1: 5 }), [9, 2, 5])
    assert.deepEqual(merged([1, 2], { 1: 5, 2: 6 }), [11, 2, 11])
    assert.deepEqual(merged([1], { 1: 5 }), [11, 2, 5])
    assert.deepEqual(merged([1, 3], { 1: 5, 3: 1 }), [12, 3, 6])
    assert.deepEqual(merged([1, 3], { 1: 5, 3: 1 }), [12, 3, 6])
  })

  test('a label value cannot forge a line or a label', () => {
    const metrics = createMetrics()
    metrics.counter('calls_total', 'Calls.', []).add({ path: 'a"} 9\nother 1\\' })
    const lines = metrics.render().trimEnd().split('\n')
    assert.equal(lines.length, 3)
    assert.equal(lines[2], String.raw`calls_total{path="a\"} 9\nother 1\\"} 1`)
  })

  test('series are bounded: what is beyond the bound is counted together', () => {
    const metrics = createMetrics()
    const counter = metrics.counter('calls_total', 'Calls.', [])
    for (let at = 0; at < 5000; at++) counter.add({ stranger: String(at) })
    const lines = metrics.render().trimEnd().split('\n')
    assert.equal(lines.length, 2 + 2001)
    assert.equal(lines.at(-1), 'calls_total{overflow="true"} 3000')
  })

  test('asking twice for a name gives the same metric', () => {
    const metrics = createMetrics()
    metrics.counter('calls_total', 'Calls.').add()
    metrics.counter('calls_total', 'Calls.').add()
    assert.match(metrics.render(), /^calls_total 2$/m)
  })
})
