import Database from 'better-sqlite3'
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { portForTests } from '../harness/ports.ts'
import { timeOfId } from '../../src/ids.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'intercept.js')

describe('a newcomer runs the demo', () => {
  const lines: string[] = []
  let demo: ChildProcess

  before(async () => {
    const port = await portForTests()
    demo = spawn(process.execPath, [launcher, 'demo', '--port', String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const reader = createInterface(demo.stdout!)
    reader.on('line', (line) => lines.push(line))
    while (!lines.some((line) => line.startsWith('Below:'))) {
      await once(reader, 'line', { signal: AbortSignal.timeout(60_000) })
    }
  })
  after(() => demo.kill('SIGKILL'))

  /** Runs a line that the demo printed, with our launcher in place of `npx interceptd`; returns the line's output. */
  function paste(line: string): string {
    const words = line.replace('npx interceptd', `${process.execPath} ${launcher}`)
    const done = spawnSync('bash', ['-c', words], { encoding: 'utf8', timeout: 60_000 })
    return done.stdout
  }

  function lineWith(part: string): string {
    const line = lines.find((one) => one.includes(part))
    assert.ok(line !== undefined, `no line has ${part}:\n${lines.join('\n')}`)
    return line
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await once(createInterface(demo.stdout!), 'line', { signal: AbortSignal.timeout(60_000) })
    }
  }

  test('it fits on one screen of 24 rows of 80 columns', () => {
    const screen = lines.slice(0, lines.findIndex((line) => line.startsWith('Below:')) + 1)
    const rows = screen.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0)
    assert.ok(rows <= 24, `${rows} rows`)
  })

  test('the first line calls the echo API, and the upstream sees no key', () => {
    const line = lineWith('/echo/hello')
    const [, key = ''] = /X-API-Key: (\S+)'/.exec(line) ?? []
    const answer = paste(line)
    const seen = JSON.parse(answer) as { url: string; headers: Record<string, string> }
    assert.equal(seen.url, '/hello')
    assert.match(seen.headers['intercept-key-id'] ?? '', /^key_/)
    assert.ok(!answer.includes(key))
  })

  test('the second streams events', () => {
    assert.equal(paste(lineWith('/events')).match(/^data: /gm)?.length, 5)
  })

  test('the third is refused by the rule, and the refusal says so', () => {
    const problem = JSON.parse(paste(lineWith('/admin/users'))) as { code: string; status: number }
    assert.deepEqual([problem.code, problem.status], ['rule_denied', 403])
  })

  test('the link signs in, once', async () => {
    const link = lineWith('/sign-in-link?token=')
    assert.equal((await fetch(link)).status, 200)
  })

  test('a WebSocket passes through', async () => {
    const { default: WebSocket } = await import('ws')
    const [, url = '', key = ''] =
      /curl (\S+)\/hello -H 'X-API-Key: (\S+)'/.exec(lineWith('/echo/hello')) ?? []
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
      headers: { 'X-API-Key': key },
    })
    await once(socket, 'open')
    socket.send('to and fro')
    const [message] = (await once(socket, 'message')) as [Buffer]
    assert.equal(String(message), 'to and fro')
    socket.close()
    await once(socket, 'close')
  })

  test('the company sign-in goes to the test provider and back, into a session', async () => {
    const start = await fetch(lineWith('/auth/sso/login'), { redirect: 'manual' })
    assert.equal(start.status, 302)
    const cookie = start.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    const page = await fetch(start.headers.get('location') ?? '')
    const [, href = ''] = /href="([^"]+)"/.exec(await page.text()) ?? []
    const allowed = await fetch(new URL(href.replaceAll('&amp;', '&'), page.url), {
      redirect: 'manual',
    })
    const back = await fetch(allowed.headers.get('location') ?? '', {
      headers: { cookie },
      redirect: 'manual',
    })
    assert.equal(back.status, 200, await back.text())
    assert.ok(back.headers.getSetCookie().some((one) => one.startsWith('__Host-session=')))
  })

  test('webhooks arrive below, verified; a revoked key is refused on the next call', async () => {
    assert.match(paste(lineWith('key revoke')), /is revoked/)
    assert.match(paste(lineWith('/echo/hello')), /credential_revoked/)
    await until(() => lines.some((line) => /api_key\.revoked +verified/.test(line)))
    assert.ok(!lines.some((line) => /signature|unverified/.test(line)))
  })

  test('a week of calls is there to look at, and a rotated key that somebody still uses', () => {
    const [, folder = ''] = /DATA_DIR=(\S+)/.exec(lineWith('DATA_DIR=')) ?? []
    const calls = new Database(join(folder, 'calls.db'), { readonly: true })
    const blocks = calls.prepare('select last_id, calls from call_block').all() as {
      last_id: string
      calls: number
    }[]
    calls.close()
    const seen = {
      calls: blocks.reduce((sum, block) => sum + block.calls, 0),
      days: new Set(blocks.map((block) => Math.floor(timeOfId(block.last_id) / 86_400_000))).size,
    }
    assert.ok(seen.calls > 1000 && seen.days >= 7, JSON.stringify(seen))
    assert.match(
      paste(lineWith('DATA_DIR=').replace(/key revoke.*/, 'key list demo')),
      /orders worker/,
    )
  })

  test('Ctrl+C, however many launchers pass it on, ends it and removes its data', async () => {
    const [, folder = ''] = /DATA_DIR=(\S+)/.exec(lineWith('DATA_DIR=')) ?? []
    assert.ok(existsSync(folder))
    for (let times = 0; times < 3; times++) {
      demo.kill('SIGINT')
      await nextTurn()
    }
    const [code] = (await once(demo, 'exit')) as [number]
    assert.equal(code, 0)
    assert.ok(!existsSync(folder))
  })
})
