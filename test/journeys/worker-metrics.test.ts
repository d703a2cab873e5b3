import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { IncomingMessage } from 'node:http'
import { portForTests } from '../harness/ports.ts'
import { until } from '../harness/gateway.ts'
import { parseScrape, promtoolFindings, sumOf } from '../harness/prometheus-text.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { prepareGuarded, startUpstream } from '../torture/guarded.ts'

const calls = 120

test('one scrape answers for all workers: every call is counted once, wherever it was served', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-workers-'))
  const port = await portForTests()
  const env = { DATA_DIR: folder, WORKERS: '4', METRICS_PORT: String(port) }
  const at = `http://127.0.0.1:${port}`
  try {
    await using upstream = await startUpstream((_request, response) => response.end('ok'))
    const { secret } = await prepareGuarded(env, upstream.url)
    await using server = await startServerProcess(env)
    const text = async () => await (await fetch(`${at}/metrics`)).text()
    await until(async () => sumOf(parseScrape(await text()), 'intercept_workers') === 4)
    assert.equal((await fetch(`${at}/readyz`)).status, 200)
    assert.equal((await fetch(`${at}/healthz`)).status, 200)
    assert.equal((await fetch(`${at}/anything`)).status, 404)

    const url = `${server.baseUrl}/api/v1/intercept/up/x`
    await Promise.all(Array.from({ length: calls }, async () => await callAlone(url, secret)))
    await until(async () => sumOf(parseScrape(await text()), 'intercept_calls_total') === calls)
    const scrape = await text()
    const samples = parseScrape(scrape)
    assert.equal(sumOf(samples, 'intercept_call_seconds_count', { target: 'up' }), calls)
    assert.equal(sumOf(samples, 'intercept_build_info'), 1)
    assert.ok(['', undefined].includes(promtoolFindings(scrape)), promtoolFindings(scrape))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** Makes a call on a connection of its own, so that calls are spread over the workers. */
async function callAlone(url: string, secret: string): Promise<void> {
  const agent = new Agent({ maxSockets: 1 })
  const sent = request(url.replace('localhost', '127.0.0.1'), {
    agent,
    headers: { 'X-API-Key': secret },
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  assert.equal(response.statusCode, 200)
  agent.destroy()
}
