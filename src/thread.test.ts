import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const threadCode = `import { flushCompileCache } from 'node:module'
import { parentPort } from 'node:worker_threads'
const external: number = process.memoryUsage().external
flushCompileCache()
parentPort?.postMessage(external)`

test('a thread that has been started before takes its code from the cache, and loads no TypeScript compiler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-thread-'))
  try {
    writeFileSync(join(folder, 'thread.ts'), threadCode)
    const starter = join(folder, 'starter.mjs')
    const own = pathToFileURL(join(import.meta.dirname, 'thread.ts')).href
    writeFileSync(
      starter,
      `import { enableCompileCache } from 'node:module'
      enableCompileCache(${JSON.stringify(join(folder, 'cache'))})
      const { startThread } = await import(${JSON.stringify(own)})
      const thread = startThread(new URL('./thread.ts', import.meta.url), {})
      thread.once('message', (external) => console.log(external))`,
    )
    const externalOfThread = (): number => {
      const { stdout, stderr } = spawnSync(process.execPath, [starter], { encoding: 'utf8' })
      assert.match(stdout, /^\d+\n$/, stderr)
      return Number(stdout)
    }
    const [first, second] = [externalOfThread(), externalOfThread()]
    assert.ok(second < first - 5_000_000, `${first} bytes beside the heap, then ${second}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
