import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/main.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { intercept } from '../harness/terminal.ts'

test('whatever is refused while the database is away, SCIM and sign-ins too, is one line in the log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-storage-away-'))
  const env = { DATA_DIR: folder }
  const lines: string[] = []
  try {
    await intercept(['org', 'create', 'acme'], { env })
    await intercept(['org', 'set-plan', 'acme', 'enterprise'], { env })
    const issued = await intercept(['scim', 'token', 'issue', 'acme', '--json'], { env })
    const { secret } = JSON.parse(issued.out) as { secret: string }
    const log = createLog({ level: 'info', write: (line) => void lines.push(line) })
    await using running = await start(readConfig({ ...env, PORT: '0' }), { log })
    const users = `${running.baseUrl}/scim/v2/Users`
    const headers = { authorization: `Bearer ${secret}` }
    assert.equal((await fetch(users, { headers })).status, 200)

    const [file, away] = [join(folder, 'intercept.db'), join(folder, 'moved.db')]
    renameSync(file, away)
    lines.length = 0
    const link = `${running.baseUrl}/api/v1/auth/sso/login?organization=acme`
    for (const [url, init] of [
      [users, { headers }],
      [link, { redirect: 'manual' }],
    ] as const) {
      assert.equal((await fetch(url, init)).status, 503, url)
      assert.equal((await fetch(url, init)).status, 503, url)
    }
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(lines[0] ?? '', /"level":"warn".*the database does not answer/)
    renameSync(away, file)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
