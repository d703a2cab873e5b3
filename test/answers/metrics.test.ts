import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CallMetrics } from '../../src/calls/index.ts'
import { portForTests } from '../harness/ports.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { gatewayForTests, until, type TestGateway } from '../harness/gateway.ts'
import { parseScrape, promtoolFindings, sumOf, type Sample } from '../harness/prometheus-text.ts'
import { findProgram } from '../harness/proxy-program.ts'

const promtool = findProgram('promtool')

describe('metrics', () => {
  let gateway: TestGateway
  let metricsUrl: string

  before(async () => {
    const port = await portForTests()
    metricsUrl = `http://127.0.0.1:${port}/metrics`
    gateway = await gatewayForTests({ settings: { METRICS_PORT: String(port) } })
    const nobody = `http://127.0.0.1:${await portForTests()}`
    await gateway.run('target', 'set', 'acme', 'away', '--upstream', nobody)
    const { xApiKey } = gateway
    for (const path of ['/echo/a', '/echo/b', '/nowhere/c', '/away/d']) {
      await (await gateway.call(path, xApiKey)).text()
    }
    await (await gateway.call('/echo/a', undefined)).text()
    await fetch(`${gateway.product.baseUrl}/api/v1/me`)
    await fetch(`${gateway.product.baseUrl}/scim/v2/Users`)
  })
  after(async () => await gateway[Symbol.asyncDispose]())

  async function scrape(): Promise<Sample[]> {
    return parseScrape(await (await fetch(metricsUrl)).text())
  }

  test('calls are counted by target, class of status and refusal code', async () => {
    const samples = await scrape()
    const echo = { organization: 'acme', target: 'echo' }
    assert.equal(sumOf(samples, 'intercept_calls_total', { ...echo, status_class: '2xx' }), 2)
    assert.equal(sumOf(samples, 'intercept_calls_total'), 5)
    const refused = (code: string) => sumOf(samples, 'intercept_calls_refused_total', { code })
    assert.equal(refused('target_not_found'), 1)
    assert.equal(refused('credential_missing'), 1)
    assert.equal(
      sumOf(samples, 'intercept_upstream_errors_total', {
        target: 'away',
        code: 'upstream_unreachable',
      }),
      1,
    )
  })

  test('a latency histogram counts every call of a known key, and one each upstream that answered', async () => {
    const samples = await scrape()
    assert.equal(sumOf(samples, 'intercept_call_seconds_count'), 4)
    assert.equal(sumOf(samples, 'intercept_call_seconds_bucket', { le: '+Inf' }), 4)
    assert.equal(sumOf(samples, 'intercept_upstream_seconds_count', { target: 'echo' }), 2)
  })

  test('requests of the API and of SCIM, transactions, connections and the process are there', async () => {
    // The server may count a response a moment after the client has read its last byte.
    await until(async () => {
      const samples = await scrape()
      const ended = (area: string) => sumOf(samples, 'intercept_request_seconds_count', { area })
      return ended('api') === 1 && ended('scim') === 1
    })
    const samples = await scrape()
    const names = new Set(samples.map(({ name }) => name))
    for (const name of expected) assert.ok(names.has(name), name)
    assert.equal(sumOf(samples, 'intercept_build_info'), 1)
  })

  test(
    promtool === undefined
      ? 'promtool checks the scrape: skipped, promtool is not installed'
      : 'promtool finds nothing against the scrape, and does find mistakes',
    { skip: promtool === undefined && 'promtool is not installed' },
    async (t) => {
      const text = await (await fetch(metricsUrl)).text()
      assert.equal(promtoolFindings(text), '')
      assert.match(promtoolFindings('# TYPE b_a counter\nb_a 1\n') ?? '', /_total/)
      const { size } = new Set(parseScrape(text).map(({ name }) => name))
      t.diagnostic(`promtool check metrics: ${size} names, 0 findings`)
    },
  )

  test('series are bounded by METRICS_TARGETS: further targets are counted together', () => {
    const metrics = createMetrics()
    const calls = new CallMetrics(metrics, { maxTargets: 2 })
    for (let at = 0; at < 1000; at++) {
      const target = { id: `tgt_${at % 10}`, slug: `t${at % 10}` }
      const principal = { organizationSlug: 'acme' }
      calls.count({ status: 200, refusal: undefined, target, principal }, undefined)
    }
    const samples = parseScrape(metrics.render())
    const series = samples.filter(({ name }) => name === 'intercept_calls_total')
    assert.deepEqual(
      series.map(({ labels, value }) => [labels['target'], value]),
      [
        ['(other)', 800],
        ['t0', 100],
        ['t1', 100],
      ],
    )
  })
})

const expected = [
  'intercept_streams_open',
  'intercept_upstream_connections',
  'intercept_quota_subjects',
  'intercept_rate_subjects',
  'intercept_webhook_queue',
  'intercept_webhook_endpoints',
  'intercept_webhook_oldest_seconds',
  'intercept_feed_age_seconds',
  'intercept_silent_nodes',
  'intercept_nodes_forgotten_total',
  'intercept_clock_offset_seconds',
  'intercept_database_transaction_seconds_count',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_eventloop_lag_p999_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
]
