import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMetrics } from './metrics.ts'

describe('metrics', () => {
  test('counters, gauges and histograms render as Prometheus reads them', () => {
    const metrics = createMetrics()
    const calls = metrics.counter('calls_total', 'Calls.')
    calls.add({ status: '200' })
    calls.add({ status: '200' }, 2)
    calls.add({ status: '401' })
    metrics.gauge('open_connections', 'Open.').set(7)
    metrics.measured('up', 'Up.', () => 1)
    const took = metrics.histogram('took_seconds', 'Took.', [0.1, 1])
    took.observe(0.05)
    took.observe(0.1)
    took.observe(5)
    assert.equal(
      metrics.render(),
      `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{status="200"} 3
calls_total{status="401"} 1
# HELP open_connections Open.
# TYPE open_connections gauge
open_connections 7
# HELP up Up.
# TYPE up gauge
up 1
# HELP took_seconds Took.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.1"} 2
took_seconds_bucket{le="1"} 2
took_seconds_bucket{le="+Inf"} 3
took_seconds_sum 5.15
took_seconds_count 3
`,
    )
  })

  test('a label value cannot forge a line or a label', () => {
    const metrics = createMetrics()
    metrics.counter('calls_total', 'Calls.').add({ path: 'a"} 9\nother 1\\' })
    const lines = metrics.render().trimEnd().split('\n')
    assert.equal(lines.length, 3)
    assert.equal(lines[2], String.raw`calls_total{path="a\"} 9\nother 1\\"} 1`)
  })

  test('series are bounded: what is beyond the bound is counted together', () => {
    const metrics = createMetrics()
    const counter = metrics.counter('calls_total', 'Calls.')
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
