import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Services } from '../../src/api/core/services.ts'
import { once } from '../../src/api/core/idempotency.ts'
import { CallCounts } from '../../src/calls/call-counts.ts'
import { systemClock as clock } from '../../src/clock.ts'
import type { Problem } from '../../src/errors.ts'
import { createId, type OrganizationId, type UserId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import {
  asStorageProblem,
  callCounts,
  noCallRows,
  openStore,
  type Store,
  type Tx,
} from '../../src/store/index.ts'
import { startDatabaseProxy, type DatabaseProxy } from '../harness/database-proxy.ts'
import { postgresForTests } from '../harness/postgres.ts'

const operator = { kind: 'operator' } as const
// Every commit sends this text, whether as a message of its own or together with the last change.
const commit = 'commit\u0000'

describe('a connection to PostgreSQL that is lost', () => {
  const opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'intercept-lost-'))
  let proxy: DatabaseProxy
  let store: Store
  let organizations: Organizations
  let acme: OrganizationId

  before(async () => {
    const database = opened.use(await postgresForTests({ migrated: true }))
    proxy = opened.use(await startDatabaseProxy(database.url))
    store = opened.use(await openStore({ databaseUrl: proxy.url, folder, clock, isNode: false }))
    organizations = new Organizations({ store })
    acme = (await organizations.create({ slug: 'acme' }, operator)).id
  })
  after(async () => {
    await opened.disposeAsync()
    rmSync(folder, { recursive: true })
  })

  /** Runs work, and cuts its connection when a statement with these words is answered; returns the problem. */
  async function refusedWhenCutAfter(words: string, work: () => Promise<unknown>) {
    proxy.cutAfter(words)
    try {
      const error = await work().then(
        () => assert.fail('it was not refused'),
        (thrown: unknown) => thrown,
      )
      const problem = asStorageProblem(error)
      assert.ok(problem, String(error))
      return problem
    } finally {
      proxy.heal()
    }
  }

  function assertMayBeMade(problem: Problem): void {
    assert.equal(problem.status, 503)
    assert.match(problem.message, /may have been made\. Look before you repeat it\.$/)
    assert.equal(problem.headers?.['Retry-After'], undefined)
  }

  const insert = (name: string) => async (tx: Tx) =>
    void (await tx.query
      .insertInto('idempotent_answer')
      .values({
        ...{ user_id: 'usr_1', key_digest: name, route: '', request_digest: '', status: null },
        ...{ answer_sealed: null, created_at: tx.now },
      })
      .execute())
  const has = async (name: string): Promise<boolean> => {
    const rows = await store.query
      .selectFrom('idempotent_answer')
      .select('key_digest')
      .where('key_digest', '=', name)
      .execute()
    return rows.length > 0
  }

  const isThere = async (slug: string): Promise<boolean> =>
    (await organizations.list({ limit: 100 })).some((one) => one.slug === slug)

  test('before the commit, changes nothing and may be repeated', async () => {
    const problem = await refusedWhenCutAfter(
      'insert into "idempotent_answer"',
      async () => await store.transaction(insert('before')),
    )
    assert.match(problem.message, /Nothing was changed\.$/)
    assert.equal(problem.headers?.['Retry-After'], '1')
    assert.equal(await has('before'), false)
  })

  test('in a commit that was made, is no reason to say that nothing was changed', async () => {
    assertMayBeMade(
      await refusedWhenCutAfter(commit, async () => await store.transaction(insert('sent'))),
    )
    assert.ok(await has('sent'))
  })

  test('in a commit together with its last statement, neither', async () => {
    const create = async () => await organizations.create({ slug: 'new' }, operator)
    assertMayBeMade(await refusedWhenCutAfter(commit, create))
    assert.ok(await isThere('new'))
  })

  test('in a commit that several jobs share, runs none of them again', async () => {
    let runs = 0
    const job = async (tx: Tx) => {
      runs += 1
      await insert(`job ${runs}`)(tx)
    }
    const both = async () => {
      const commits = [1, 2].map(
        async () => await store.transactionConfirmed(job, { queue: 'lost' }),
      )
      const settled = await Promise.allSettled(commits)
      for (const one of settled) assert.equal(one.status, 'rejected')
      for (const one of settled) if (one.status === 'rejected') throw one.reason
    }
    assertMayBeMade(await refusedWhenCutAfter(commit, both))
    assert.ok(runs <= 2, `${runs} runs`)
  })

  test('before a change is confirmed, leaves no doubt that it was made', async () => {
    const rename = async () =>
      await store.transactionConfirmed(async (tx) => {
        tx.changed({ kind: 'organization', organizationId: acme, subjectId: acme })
        await insert('unconfirmed')(tx)
      })
    const problem = await refusedWhenCutAfter('left join node on true', rename)
    assert.match(problem.message, /^The change was made, but/)
    assert.equal(problem.headers?.['Retry-After'], undefined)
    assert.ok(await has('unconfirmed'))
  })

  describe('a creation with an Idempotency-Key', () => {
    const callerId = 'usr_2' as UserId
    let services: Services
    before(() => {
      services = { store, clock, sealer: createSealer(['x'.repeat(32)]) } as Services
    })
    const create = async (key: string, slug: string) =>
      await once(services, { callerId, key, route: '/', request: slug }, async () => {
        const { id } = await organizations.create({ slug }, operator)
        return { id }
      })

    test('is not done again after its commit was lost', async () => {
      const problem = await refusedWhenCutAfter(
        "'organization'",
        async () => await create('lost', 'made-once'),
      )
      assertMayBeMade(problem)
      await assert.rejects(create('lost', 'made-once'), { code: 'idempotency_conflict' })
      assert.ok(await isThere('made-once'))
    })

    test('answers although its answer can no longer be kept', async () => {
      proxy.cutAfter('"answer_sealed" = $')
      try {
        const { id } = await create('unkept', 'unkept')
        assert.match(id, /^org_/)
      } finally {
        proxy.heal()
      }
      await assert.rejects(create('unkept', 'unkept'), { code: 'idempotency_conflict' })
    })
  })

  test('in a commit of counts alone, counts no call twice', async () => {
    const counts = new CallCounts()
    const at = clock.now()
    counts.add({
      ...{ id: createId('req', at), at, organizationId: acme, keyId: createId('key') },
      ...{ targetId: undefined, method: 'GET', path: '/x', status: 200, refusal: undefined },
      ...{ stoppedAt: undefined, ruleId: undefined, trialRuleId: undefined, bytesIn: 0 },
      ...{ bytesOut: 0, durationUs: 1, upstreamUs: 1, address: '192.0.2.1', agent: undefined },
      capture: undefined,
    })
    const rows = counts.take(100)
    const write = async () => await store.insertCalls(noCallRows, rows)
    const counted = async () => {
      const range = { subject: '', from: 0, to: Date.UTC(2100, 0) }
      return await callCounts.countAll(store.calls, acme, range)
    }
    await refusedWhenCutAfter('insert into call_minute', write)
    assert.equal(await counted(), 0)
    assertMayBeMade(await refusedWhenCutAfter(commit, write))
    await write()
    await write()
    assert.equal(await counted(), 1)
  })
})
