import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { intercept } from '../harness/terminal.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'intercept.js')

/** Runs the demo until it is ready, passes its output to `during`, and ends it as Ctrl+C does. */
async function demo(folder: string, during: (screen: string) => Promise<void>): Promise<void> {
  const port = String(await portForTests())
  const child = spawn(process.execPath, [launcher, 'demo', '--data', folder, '--port', port], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines: string[] = []
    const reader = createInterface(child.stdout)
    reader.on('line', (line) => lines.push(line))
    while (!lines.some((line) => line.startsWith('Below:'))) {
      await once(reader, 'line', { signal: AbortSignal.timeout(30_000) })
    }
    await during(lines.join('\n'))
    child.kill('SIGINT')
    const [code] = (await once(child, 'exit')) as [number]
    assert.equal(code, 0)
  } finally {
    child.kill('SIGKILL')
  }
}

function callOf(screen: string): { url: string; key: string } {
  const [, url = '', key = ''] = /^curl (\S+\/hello) .*: (svc_live_\w+)/m.exec(screen) ?? []
  return { url, key }
}

test('a demo that keeps its data starts on it again: the keys of before still work, nothing is there twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-demo-kept-'))
  try {
    let earlier = ''
    await demo(folder, async (screen) => {
      const { url, key } = callOf(screen)
      assert.equal((await fetch(url, { headers: { 'X-API-Key': key } })).status, 200)
      earlier = key
    })
    await demo(folder, async (screen) => {
      const { url, key } = callOf(screen)
      for (const each of [key, earlier]) {
        assert.equal((await fetch(url, { headers: { 'X-API-Key': each } })).status, 200)
      }
      const env = { DATA_DIR: folder, PORT: new URL(url).port }
      const endpoints = await intercept(['webhook', 'list', 'demo', '--json'], { env })
      assert.equal((JSON.parse(endpoints.out) as unknown[]).length, 1)
      const targets = await intercept(['target', 'list', 'demo', '--json'], { env })
      assert.equal((JSON.parse(targets.out) as unknown[]).length, 2)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
