import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { problems } from '../../src/errors.ts'
import { portForTests } from '../harness/ports.ts'
import { start, type Running } from '../../src/main.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { intercept } from '../harness/terminal.ts'

describe('operations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-operations-'))
  let running: Running
  let metricsUrl: string
  const lines: string[] = []

  before(async () => {
    const metricsPort = await portForTests()
    metricsUrl = `http://127.0.0.1:${metricsPort}`
    running = await start(
      readConfig({ PORT: '0', METRICS_PORT: String(metricsPort), DATA_DIR: folder }),
      { log: createLog({ level: 'info', write: (line) => void lines.push(line) }) },
    )
  })
  after(async () => {
    await running[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  test('an address that only shows something refuses other methods with 405, whatever they bring', async () => {
    const shown = ['/', '/o/acme/keys', '/docs', '/problems', '/problems/not_found', '/guides/scim']
    const own = [...shown, '/healthz', '/readyz', '/.well-known/jwks.json', '/api/v1/openapi.json']
    const all = [
      ...own.map((path) => running.baseUrl + path),
      ...['/healthz', '/metrics'].map((path) => metricsUrl + path),
    ]
    for (const address of all) {
      assert.equal((await fetch(address, { method: 'HEAD' })).status, 200, address)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const body = { body: '<x/>', headers: { 'content-type': 'text/xml' } }
        const answer = await fetch(address, { method, ...(method === 'OPTIONS' ? {} : body) })
        const { code } = (await answer.json()) as { code: string }
        assert.deepEqual([answer.status, code], [405, 'method_not_allowed'], `${method} ${address}`)
        assert.equal(answer.headers.get('allow'), 'GET, HEAD')
      }
    }
    const unknown = await fetch(`${running.baseUrl}/nothing-here`, { method: 'DELETE' })
    assert.equal(unknown.status, 404)
  })

  test('so does every address that does more, in its own form: JSON, or a page where people sign in', async () => {
    const problem = 'application/problem+json'
    const page = 'text/html; charset=utf-8'
    const all = [
      ['/api/v1/me', 'PUT', 'GET, HEAD, PATCH', problem],
      ['/api/v1/credentials/revoke', 'DELETE', 'POST', problem],
      ['/api/v1/auth/github/login', 'POST', 'GET', page],
      ['/api/v1/auth/logout', 'PUT', 'POST', page],
      ['/sign-in-link', 'PUT', 'GET, HEAD, POST', page],
    ] as const
    for (const [path, method, allow, type] of all) {
      const body = { body: '<x/>', headers: { 'content-type': 'text/xml' } }
      const answer = await fetch(running.baseUrl + path, { method, ...body })
      const { headers } = answer
      assert.deepEqual(
        [answer.status, headers.get('allow'), headers.get('content-type')],
        [405, allow, type],
        path,
      )
    }
  })

  test('liveness and readiness answer on both listeners and reveal nothing', async () => {
    for (const base of [running.baseUrl, metricsUrl]) {
      const alive = await fetch(`${base}/healthz`)
      assert.deepEqual([alive.status, await alive.text()], [200, 'ok\n'])
      const ready = await fetch(`${base}/readyz`)
      assert.deepEqual([ready.status, await ready.text()], [200, 'ready\n'])
      assert.equal(alive.headers.get('server'), null)
    }
  })

  test('an upstream that nobody answers at is no outage of the database', async () => {
    const env = { DATA_DIR: folder }
    const upstream = `http://127.0.0.1:${await portForTests()}`
    await intercept(['org', 'create', 'acme'], { env })
    await intercept(['target', 'set', 'acme', 'up', '--upstream', upstream], { env })
    const issued = await intercept(['key', 'issue', 'acme', '--name', 'ci', '--json'], { env })
    const { secret } = JSON.parse(issued.out) as { secret: string }
    const address = `${running.baseUrl}/api/v1/intercept/up/x`
    const response = await fetch(address, { headers: { 'X-API-Key': secret } })
    assert.equal(response.status, 502)
    assert.ok(lines.some((line) => line.includes('a call was refused')))
    assert.ok(!lines.some((line) => line.includes('the database does not answer')))
  })

  test('metrics are on the separate listener only', async () => {
    const scrape = await fetch(`${metricsUrl}/metrics`)
    assert.equal(scrape.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.match(await scrape.text(), /^process_resident_memory_bytes \d+$/m)
    assert.notEqual((await fetch(`${running.baseUrl}/metrics`)).status, 200)
    assert.equal((await fetch(`${metricsUrl}/api/v1/me`)).status, 404)
  })

  test('every refusal has its page, without scripts and under a strict policy', async () => {
    for (const [code, { title }] of Object.entries(problems)) {
      const page = await fetch(`${running.baseUrl}/problems/${code}`)
      assert.equal(page.status, 200, code)
      assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      const html = await page.text()
      assert.ok(html.includes(`<title>${title} ·`), code)
      for (const part of ['What happened', 'Why', 'What to do']) {
        assert.ok(html.includes(`<h2>${part}</h2>`), code)
      }
      assert.doesNotMatch(html, /<script| style=| on[a-z]+=|\*\*|^\* /m)
    }
  })

  test('every guide has its page, without scripts, and its links lead to pages', async () => {
    const names = readdirSync('docs/guides').map((file) => file.replace(/\.md$/, ''))
    const index = await (await fetch(`${running.baseUrl}/guides`)).text()
    for (const name of names) {
      assert.ok(index.includes(`href="/guides/${name}"`), name)
      const page = await fetch(`${running.baseUrl}/guides/${name}`)
      assert.equal(page.status, 200, name)
      assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      const html = await page.text()
      assert.doesNotMatch(
        html.replaceAll(/<pre>.*?<\/pre>/gs, ''),
        /<script| style=|\*\*|^\* |^\||```/m,
      )
      for (const [, to = ''] of html.matchAll(/href="(\/[^"]*)"/g)) {
        assert.equal((await fetch(`${running.baseUrl}${to}`)).status, 200, `${name}: ${to}`)
      }
    }
    assert.equal((await fetch(`${running.baseUrl}/guides/constructor`)).status, 404)
    assert.equal((await fetch(`${running.baseUrl}/guides/..%2fproblems%2fnot_found`)).status, 404)
  })

  test('an unknown code is a problem of its own', async () => {
    for (const code of ['nothing', '__proto__', 'constructor', '..%2f..%2fREADME']) {
      const answer = await fetch(`${running.baseUrl}/problems/${code}`)
      assert.ok([400, 404].includes(answer.status), code)
      assert.equal(answer.headers.get('content-type'), 'application/problem+json')
    }
  })
})
