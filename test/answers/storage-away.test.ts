import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/main.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { until } from '../harness/gateway.ts'
import { postgresForTests } from '../harness/postgres.ts'
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

test('a node that PostgreSQL lets in no more refuses with 503 and says why in one line, and goes on by itself; one that starts then fails at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-kept-out-'))
  await using database = await postgresForTests()
  const role = `kept_out_${randomBytes(4).toString('hex')}`
  await database.sql(`create role ${role} login`)
  await database.sql(`alter database ${database.name} owner to ${role}`)
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: database.url.replace('postgres://postgres@', `postgres://${role}@`),
    INTERCEPT_SECRET: randomBytes(32).toString('base64'),
  }
  const config = readConfig({ ...env, PORT: '0' })
  const lines: string[] = []
  try {
    const log = createLog({ level: 'info', write: (line) => void lines.push(line) })
    await using running = await start(config, { log })
    await intercept(['org', 'create', 'acme'], { env })
    const echo = ['target', 'set', 'acme', 'echo', '--upstream', 'http://echo.intercept.internal/']
    await intercept(echo, { env })
    const issued = await intercept(['key', 'issue', 'acme', '--name', 'ci', '--json'], { env })
    const { secret } = JSON.parse(issued.out) as { secret: string }
    const call = async (): Promise<number> => {
      const headers = { 'x-api-key': secret }
      return (await fetch(`${running.baseUrl}/api/v1/intercept/echo/`, { headers })).status
    }
    const revoke = async (): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', body: JSON.stringify({ secret }), headers }
      const answer = await fetch(`${running.baseUrl}/api/v1/credentials/revoke`, init)
      return ((await answer.json()) as { code?: unknown }).code
    }
    assert.equal(await call(), 200)

    lines.length = 0
    await database.sql(`alter role ${role} nologin`)
    // A statement that is running would be told about the cut instead of the reason, so only idle connections are cut.
    const connected = `from pg_stat_activity where usename = '${role}'`
    await until(async () => {
      await database.sql(`select pg_terminate_backend(pid) ${connected} and state = 'idle'`)
      return (await database.sql(`select pid ${connected}`)).rows.length === 0
    })
    const seen = new Set<number>()
    await until(async () => {
      const status = await call()
      seen.add(status)
      return status !== 200
    })
    for (let at = 0; at < 5; at++) seen.add(await call())
    assert.ok(
      [...seen].every((status) => status === 200 || status === 503),
      [...seen].join(),
    )
    assert.equal(await revoke(), 'storage_unavailable')
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(lines[0] ?? '', /"level":"warn".*not permitted to log in/)
    await assert.rejects(start(config, { log }), /not permitted to log in/)

    await database.sql(`alter role ${role} login`)
    await until(async () => (await call()) === 200)
  } finally {
    rmSync(folder, { recursive: true })
    await database.sql(`alter database ${database.name} owner to postgres`)
    await database.sql(`reassign owned by ${role} to postgres`)
    await database.sql(`drop role if exists ${role}`)
  }
})
