import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { createId, type KeyId, type OrganizationId } from '../../src/ids.ts'
import {
  attempts,
  auditEntries,
  auditHash,
  deliveryWork,
  organizations,
  type Store,
} from '../../src/store/index.ts'
import { emptyPlace, engines } from './engines.ts'

for (const engine of engines) {
  describe(`the store on ${engine}`, () => {
    test('a slug belongs to one organization', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const first = await addOrganization(store, 'acme')
      const second = await store.transaction(
        async (tx) =>
          await organizations.insert(tx, {
            id: createId('org'),
            slug: 'acme',
            name: 'Another',
            plan: 'standard',
          }),
      )
      assert.equal(second, undefined)
      assert.equal((await organizations.findBySlug(store, 'acme'))?.id, first)
    })

    test('what is acknowledged is on the disk, whatever the server would do by itself', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const setting =
        engine === 'sqlite'
          ? sql<{ value: unknown }>`select synchronous as value from pragma_synchronous`
          : sql<{ value: unknown }>`select current_setting('synchronous_commit') as value`
      const seen = await store.transaction(async (tx) => await setting.execute(tx.query))
      // SQLite's number for FULL is 2; the PostgreSQL of the tests has `off` as its default.
      assert.equal(seen.rows[0]?.value, engine === 'sqlite' ? 2 : 'on')
    })

    test('an attempt is recorded once, however often its outcome is written', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const [id, organizationId] = [createId('dlv'), createId('org')]
      const delivery = { id, organizationId, endpointId: createId('ep'), version: 1 }
      const answer = {
        status: 500,
        failure: undefined,
        responseBody: undefined,
        retryAfterMs: undefined,
      }
      const outcome = {
        ...{ id: createId('att'), delivery: { ...delivery, attempts: 0, attemptsEver: 0 } },
        ...({
          state: 'pending',
          dueAt: 2,
          probe: false,
          paced: false,
          startedAt: 1,
          durationMs: 1,
        } as const),
        ...{ ...answer, responseTruncated: false },
      }
      const write = async () =>
        await store.transaction(async (tx) => await deliveryWork.complete(tx, [outcome]))
      await write()
      await write()
      assert.equal((await attempts.list(store, organizationId, id)).length, 1)
    })

    test('a work that throws leaves nothing behind, and its neighbours commit', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const outcomes = await Promise.allSettled(
        ['a', 'b', 'c'].map(
          async (slug) =>
            await store.transaction(async (tx) => {
              await organizations.insert(tx, {
                id: createId('org'),
                slug,
                name: slug,
                plan: 'standard',
              })
              if (slug === 'b') throw new Error('no')
            }),
        ),
      )
      assert.deepEqual(
        outcomes.map((outcome) => outcome.status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      const found = await organizations.list(store, { limit: 10 })
      assert.deepEqual(
        found.map((organization) => organization.slug),
        ['a', 'c'],
      )
    })

    test('audit sequences have no gap and every entry is chained to the one before', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const id = await addOrganization(store, 'acme')
      await Promise.all(Array.from({ length: 40 }, async () => await addEntry(store, id)))
      const entries = await auditEntries.listFrom(store, {
        organizationId: id,
        fromSequence: 0,
        limit: 100,
      })
      assert.deepEqual(
        entries.map((entry) => entry.sequence),
        Array.from({ length: 40 }, (_, at) => at + 1),
      )
      let previous = ''
      for (const entry of entries) {
        assert.equal(entry.previous_hash, previous)
        assert.equal(entry.hash, auditHash(entry))
        previous = entry.hash
      }
    })

    test('another process hears a change, in the order of commits', async () => {
      await using place = await emptyPlace(engine)
      await using here = await place.open()
      await using there = await place.open({ isNode: true })
      const heard: string[] = []
      there.feed.on(
        'key',
        (change) => heard.push(change.subjectId),
        () => undefined,
      )
      const names = Array.from({ length: 20 }, (_, at) => `key_${at}` as const)
      for (const name of names) await addChange(here, name)
      const { confirmation } = await here.transactionConfirmed(async (tx) => {
        tx.changed({ kind: 'key', organizationId: 'system', subjectId: 'key_last' })
      })
      assert.deepEqual(heard, [...names, 'key_last'])
      assert.deepEqual([confirmation.nodes, confirmation.silentNodes], [1, 0])
    })

    test('the own node hears before the transaction answers, and only once', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open({ isNode: true })
      const heard: string[] = []
      store.feed.on(
        'key',
        (change) => heard.push(change.subjectId),
        () => undefined,
      )
      await addChange(store, 'key_1')
      assert.deepEqual(heard, ['key_1'])
      await store.feed.read()
      await addChange(store, 'key_2')
      await store.feed.read()
      assert.deepEqual(heard, ['key_1', 'key_2'])
    })

    test('a confirmation waits a second at most for a node that has gone silent', async () => {
      await using place = await emptyPlace(engine)
      await using here = await place.open()
      await here.transaction(async (tx) => {
        await tx.query
          .insertInto('node')
          .values({
            ...{ id: 'node_dead', started_at: tx.now, heartbeat_at: tx.now },
            ...{ seen_sequence: 0, seen_token: '', beats: 1 },
          })
          .execute()
      })
      const { confirmation } = await here.transactionConfirmed(async (tx) => {
        tx.changed({ kind: 'key', organizationId: 'system', subjectId: 'key_1' })
      })
      assert.equal(confirmation.silentNodes, 1)
      assert.ok(confirmation.tookMs >= 1000, String(confirmation.tookMs))
    })

    test('two processes migrate at once and both start', async () => {
      await using place = await emptyPlace(engine, { migrated: false })
      const stores = await Promise.all([place.open(), place.open(), place.open()])
      for (const store of stores) await store[Symbol.asyncDispose]()
    })

    test('a database with a migration that we do not know is refused', async () => {
      await using place = await emptyPlace(engine)
      {
        await using store = await place.open()
        await store.transaction(async (tx) => {
          await tx.query
            .insertInto('migration')
            .values({ name: '9999-future.sql', digest: 'x' })
            .execute()
        })
      }
      await assert.rejects(place.open(), /newer Intercept/)
    })
  })
}

async function addOrganization(store: Store, slug: string): Promise<OrganizationId> {
  const id = createId('org')
  await store.transaction(
    async (tx) => await organizations.insert(tx, { id, slug, name: slug, plan: 'standard' }),
  )
  return id
}

async function addEntry(store: Store, organizationId: OrganizationId): Promise<void> {
  await store.transaction(async (tx) => {
    tx.audit({
      organizationId,
      actor: { kind: 'operator' },
      action: 'organization.created',
      subject: { kind: 'organization', id: organizationId },
      detail: { text: 'Grüße' },
    })
  })
}

async function addChange(store: Store, subjectId: KeyId): Promise<void> {
  await store.transaction(async (tx) => {
    tx.changed({ kind: 'key', organizationId: 'system', subjectId })
  })
}
