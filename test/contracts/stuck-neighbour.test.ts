import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { Keys } from '../../src/access/index.ts'
import { systemClock as clock } from '../../src/clock.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { openStore, type Actor } from '../../src/store/index.ts'
import { until } from '../harness/gateway.ts'
import { postgresForTests } from '../harness/postgres.ts'

const operator: Actor = { kind: 'operator' }
const input = { name: 'ci', scheme: 'bearer' } as const
const stuckWorks = 8

describe('an organization whose lock is held for long', { timeout: 60_000 }, () => {
  test('gets every change that waits for it, although one wait for a lock is short', async () => {
    await using opened = new AsyncDisposableStack()
    const database = opened.use(await postgresForTests({ migrated: true }))
    const folder = mkdtempSync(join(tmpdir(), 'intercept-locks-'))
    opened.defer(() => rmSync(folder, { recursive: true }))
    const store = opened.use(
      await openStore({ databaseUrl: database.url, folder, clock, isNode: true }),
    )
    const acme = await new Organizations({ store }).create({ slug: 'acme' }, operator)
    const keys = new Keys({ store, clock })
    let isHeld = false
    const holding = store.background.transaction(async (tx) => {
      await sql`select 1 from organization_head where organization_id = ${acme.id} for update`.execute(
        tx.query,
      )
      isHeld = true
      // Hold the lock for longer than a single attempt to take it may last.
      await sql`select pg_sleep(1.5)`.execute(tx.query)
    })
    await until(() => isHeld)
    const issued = keys.issue(acme.id, input, operator)
    await holding
    assert.equal((await issued).key.name, 'ci')
  })
})

describe('a node that is cut off in the middle of its transactions', { timeout: 60_000 }, () => {
  for (const whose of ['the same', 'another']) {
    test(`keeps nobody from revoking in ${whose} organization`, async () => {
      await using opened = new AsyncDisposableStack()
      const database = opened.use(await postgresForTests({ migrated: true }))
      const folder = mkdtempSync(join(tmpdir(), 'intercept-proxy-'))
      opened.defer(() => rmSync(folder, { recursive: true }))
      const proxy = opened.use(await blackHole(socketOf(database.url), folder))

      const healthy = opened.use(
        await openStore({ databaseUrl: database.url, folder, clock, isNode: true }),
      )
      const organizations = new Organizations({ store: healthy })
      const acme = await organizations.create({ slug: 'acme' }, operator)
      const other = await organizations.create({ slug: 'other' }, operator)
      const keys = new Keys({ store: healthy, clock })
      const { key } = await keys.issue(acme.id, input, operator)

      const through = database.url.replace(/host=[^&]*/, `host=${encodeURIComponent(folder)}`)
      const stuck = await openStore({ databaseUrl: through, folder, clock, isNode: false })
      opened.defer(async () => {
        proxy.cut()
        await stuck[Symbol.asyncDispose]()
      })
      proxy.swallowFrom('update organization_head')
      const works = new Keys({ store: stuck, clock })
      const organizationId = whose === 'another' ? other.id : acme.id
      const lost = Array.from(
        { length: stuckWorks },
        async () => await works.issue(organizationId, input, operator).catch(() => undefined),
      )
      await until(() => proxy.swallowed() > 0)
      const { confirmation } = await keys.revoke(acme.id, key.id, operator)
      assert.equal(confirmation.nodes, 1)
      proxy.cut()
      await Promise.all(lost)
    })
  }
})

function socketOf(url: string): string {
  return `${new URL(url).searchParams.get('host') ?? ''}/.s.PGSQL.5432`
}

/**
 * Starts a proxy to the database that drops everything after a given statement: the database executes the statement,
 * but its response never arrives.
 */
async function blackHole(target: string, folder: string) {
  let words: string | undefined
  let swallowed = 0
  const sockets = new Set<Socket>()
  const server = createServer((inside) => {
    const outside = connect(target)
    let isLost = false
    for (const socket of [inside, outside]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    inside.on('data', (bytes) => {
      if (isLost) return
      outside.write(bytes)
      if (words === undefined || !bytes.includes(words)) return
      isLost = true
      swallowed += 1
    })
    outside.on('data', (bytes) => void (isLost || inside.write(bytes)))
    inside.on('close', () => void (isLost || outside.end()))
    outside.on('close', () => void (isLost || inside.end()))
  })
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve))
  return {
    swallowFrom: (text: string) => void (words = text),
    swallowed: () => swallowed,
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
