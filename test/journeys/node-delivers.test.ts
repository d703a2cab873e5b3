// Tests a node in its own process, as an operator starts it, with the real clock and the real store.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { postgresForTests } from '../harness/postgres.ts'
import { startReceiver } from '../harness/receiver.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { engines } from '../harness/store.ts'
import { intercept } from '../harness/terminal.ts'
import { until } from '../harness/webhooks.ts'

for (const engine of engines) {
  test(`a node on ${engine} delivers what the command line did, and ends when it is told to`, async () => {
    await using opened = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'intercept-delivers-'))
    opened.defer(() => rmSync(folder, { recursive: true }))
    const database = engine === 'postgres' ? opened.use(await postgresForTests()) : undefined
    const env = { DATA_DIR: folder, ...(database && { DATABASE_URL: database.url }) }
    const receiver = opened.use(await startReceiver())
    const command = async (...words: string[]): Promise<void> => {
      const { code, err } = await intercept(words, { env })
      assert.equal(code, 0, err)
    }

    await command('org', 'create', 'acme')
    await command('webhook', 'add', 'acme', '--url', receiver.url)
    const server = opened.use(await startServerProcess(env))
    await command('key', 'issue', 'acme', '--name', 'ci')
    await until(
      () => receiver.arrivals.some(({ body }) => body.includes('api_key.issued')),
      'the event arrives',
    )

    server.kill('SIGTERM')
    const { code } = await server.ended
    assert.equal(code, 0, server.lines.join('\n'))
  })
}
