import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { Keys } from '../../src/access/index.ts'
import { systemClock as clock } from '../../src/clock.ts'
import { createId } from '../../src/ids.ts'
import { CallCounts } from '../../src/calls/call-counts.ts'
import { Organizations } from '../../src/organizations/index.ts'
import {
  callCounts,
  keySecrets,
  memberships,
  openStore,
  organizationHeads,
  rateShares,
  traffic,
  type Actor,
  type CallRecord,
  type Store,
  type Tx,
} from '../../src/store/index.ts'
import { startDatabaseProxy } from '../harness/database-proxy.ts'
import { until } from '../harness/gateway.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { nodesOver } from '../harness/rate-nodes.ts'

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

describe(
  'a limit whose rows are locked for longer than one wait may last',
  { timeout: 60_000 },
  () => {
    test('still lets calls claim a share of its rate', async () => {
      await using world = await besideStuck('')
      const { healthy, organizationId } = world
      await using nodes = await nodesOver([healthy, await world.another()])
      const subject = { id: createId('key'), organizationId }
      await healthy.transactionOnCalls(async (tx) => await rateShares.lockSubjects(tx, [subject]))
      const holding = holdRows(healthy, 'rate_share')
      await until(() => holding.isHeld)
      assert.equal(await nodes.list[0]?.pass(subject), true)
      await holding.done
    })

    test('still lets calls be claimed of its quota', async () => {
      await using world = await besideStuck('')
      const { healthy, organizationId } = world
      const counts = { periodAt: 0, limit: 100, spent: 0, wanted: 1, returned: 0 }
      const claim = { organizationId, subjectId: createId('key'), ...counts }
      const take = async () =>
        await healthy.transactionOnCallsThroughLocks(
          async (tx) => await traffic.claimQuotas(tx, [claim]),
        )
      await take()
      const holding = holdRows(healthy, 'quota_use')
      await until(() => holding.isHeld)
      assert.equal((await take())[0]?.granted, 1)
      await holding.done
    })
  },
)

describe('a node that is cut off in the middle of its transactions', { timeout: 60_000 }, () => {
  for (const whose of ['the same', 'another']) {
    test(`keeps nobody from revoking in ${whose} organization`, async () => {
      await using world = await besideStuck('update organization_head')
      const { healthy, organizationId } = world
      const other = await new Organizations({ store: healthy }).create({ slug: 'other' }, operator)
      const keys = new Keys({ store: healthy, clock })
      const { key } = await keys.issue(organizationId, input, operator)

      const busy = whose === 'another' ? other.id : organizationId
      await world.hang(
        async (store) => await new Keys({ store, clock }).issue(busy, input, operator),
      )
      const { confirmation } = await keys.revoke(organizationId, key.id, operator)
      assert.equal(confirmation.nodes, 1)
    })
  }

  test('keeps nobody from revoking a key whose last use it notes', async () => {
    await using world = await besideStuck('update "api_key"')
    const { healthy, organizationId } = world
    const keys = new Keys({ store: healthy, clock })
    const { key } = await keys.issue(organizationId, input, operator)
    const how = { address: '127.0.0.1', agent: undefined, targetId: undefined }
    const use = { organizationId, keyId: key.id, digest: '', at: clock.now(), ...how }
    const note = async (store: Store) =>
      await store.transactionThatMayBeLost(async (tx) => {
        await keySecrets.noteUses(tx, [use])
        return await lockLimits(tx)
      })
    assert.deepEqual(await note(healthy), brief)

    await world.hang(note)
    const { confirmation } = await keys.revoke(organizationId, key.id, operator)
    assert.equal(confirmation.nodes, 1)
  })

  for (const [what, lock] of Object.entries({
    'counts owners': memberships.countOwners,
    'has locked the deliveries': organizationHeads.lockHead,
  })) {
    test(`keeps nobody from revoking in an organization of which it ${what}`, async () => {
      await using world = await besideStuck('update "organization_head"')
      const { healthy, organizationId } = world
      const keys = new Keys({ store: healthy, clock })
      const { key } = await keys.issue(organizationId, input, operator)
      const run = async (store: Store) =>
        await store.transaction(async (tx) => {
          await lock(tx, organizationId)
          return await lockLimits(tx)
        })
      assert.deepEqual(await run(healthy), brief)

      await world.hang(run)
      const { confirmation } = await keys.revoke(organizationId, key.id, operator)
      assert.equal(confirmation.nodes, 1)
    })
  }

  test('keeps nobody from claiming a share of the same rate', async () => {
    await using world = await besideStuck('into "rate_share"')
    const { healthy, organizationId } = world
    const subject = { id: createId('key'), organizationId }
    const lock = async (store: Store) =>
      await store.transactionOnCalls(async (tx) => {
        await rateShares.lockSubjects(tx, [subject])
        return await lockLimits(tx)
      })
    assert.deepEqual(await lock(healthy), brief)

    await world.hang(lock)
    await using nodes = await nodesOver([healthy])
    assert.equal(await nodes.list[0]?.pass(subject), true)
  })

  test('keeps nobody from counting calls', async () => {
    await using world = await besideStuck('call_minute')
    const { healthy, organizationId } = world
    const how = { status: 200, bytesIn: 0, bytesOut: 0, durationUs: 1, at: clock.now() }
    const counts = new CallCounts()
    counts.add({ ...how, organizationId, keyId: createId('key') } as CallRecord)
    const rows = counts.take(1)

    const count = async (store: Store) =>
      await store.transactionOnCallsThroughLocks(async (tx) => {
        await callCounts.add(tx, rows)
        return await lockLimits(tx)
      })
    await world.hang(count)
    assert.deepEqual(await count(healthy), brief)
  })

  test('keeps nobody from claiming calls of the same quota', async () => {
    await using world = await besideStuck('update quota_use')
    const { healthy, organizationId } = world
    const counts = { periodAt: 0, limit: 100, spent: 0, wanted: 1, returned: 0 }
    const claim = { organizationId, subjectId: createId('key'), ...counts }
    const take = async (store: Store) =>
      await store.transactionOnCallsThroughLocks(async (tx) => {
        await traffic.claimQuotas(tx, [claim])
        return await lockLimits(tx)
      })
    await take(healthy)

    await world.hang(take)
    assert.deepEqual(await take(healthy), brief)
  })
})

const brief = { idle: '300ms', wait: '600ms' }

/** Holds all rows of a table for longer than a single wait for a lock may last. */
function holdRows(store: Store, table: string) {
  const holding = { isHeld: false, done: Promise.resolve() }
  holding.done = store.background.transaction(async (tx) => {
    await sql`select 1 from ${sql.table(table)} for update`.execute(tx.query)
    holding.isHeld = true
    await sql`select pg_sleep(1.5)`.execute(tx.query)
  })
  return holding
}

/** Returns how long PostgreSQL lets a transaction be idle, and wait for a lock. */
async function lockLimits(tx: Tx): Promise<unknown> {
  const { rows } = await sql`select current_setting('idle_in_transaction_session_timeout') as idle,
    current_setting('lock_timeout') as wait`.execute(tx.query)
  return rows[0]
}

/**
 * Opens a store with an organization, and another store whose connections are cut off once they have sent a statement
 * with the given words: the database executes the statement, but its response never arrives. `hang` starts the same
 * work several times on that store, and waits until one of them hangs.
 */
async function besideStuck(words: string) {
  const opened = new AsyncDisposableStack()
  const database = opened.use(await postgresForTests({ migrated: true }))
  const folder = mkdtempSync(join(tmpdir(), 'intercept-locks-'))
  opened.defer(() => rmSync(folder, { recursive: true }))
  const healthy = opened.use(
    await openStore({ databaseUrl: database.url, folder, clock, isNode: true }),
  )
  const { id } = await new Organizations({ store: healthy }).create({ slug: 'acme' }, operator)
  const proxy = opened.use(await startDatabaseProxy(database.url))
  const stuck = await openStore({ databaseUrl: proxy.url, folder, clock, isNode: false })
  const lost: Promise<unknown>[] = []
  opened.defer(async () => {
    proxy.cut()
    await stuck[Symbol.asyncDispose]()
    await Promise.all(lost)
  })
  return {
    healthy,
    organizationId: id,
    another: async () =>
      opened.use(await openStore({ databaseUrl: database.url, folder, clock, isNode: true })),
    async hang(work: (store: Store) => Promise<unknown>): Promise<void> {
      proxy.blackHoleAfter(words)
      for (let at = 0; at < stuckWorks; at++) lost.push(work(stuck).catch(() => undefined))
      await until(() => proxy.lost() > 0)
    },
    [Symbol.asyncDispose]: async () => await opened.disposeAsync(),
  }
}
