import assert from 'node:assert/strict'
import { Problem } from '../../src/errors.ts'
import { sql } from 'kysely'
import { after, before, describe, test } from 'node:test'
import { directoryLists, type DirectoryCondition, type Store } from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

for (const engine of engines) {
  describe(`slow reads on ${engine}`, () => {
    let place: TestStore
    let store: Store
    before(async () => {
      place = await storeForTests(engine)
      store = place.store
    })
    after(async () => await place[Symbol.asyncDispose]())

    test('what is committed is read', async () => {
      const had = await amount(store)
      await store.transaction(async (tx) =>
        tx.changed({ kind: 'organization', organizationId: 'org_1', subjectId: 'org_1' }),
      )
      assert.equal(await amount(store), had + 1)
    })

    test('a question that takes long holds nobody up', async () => {
      let isAnswered = false
      const long = count(store, 1_000_000).then((found) => {
        isAnswered = true
        return found
      })
      for (let quick = 0; quick < 3; quick++) {
        await sql`select 1`.execute(store.query)
        assert.equal(isAnswered, false)
      }
      assert.equal(await long, 1_000_000)
    })

    test('a wrong question is refused, and the next one answered', async () => {
      await assert.rejects(sql`select nothing_of_the_kind`.execute(store.slowReads.query))
      assert.equal(await count(store, 3), 3)
    })
  })
}

describe('slow reads on SQLite', () => {
  test('bytes are Buffers, also behind rows in which the same column has none', async () => {
    await using place = await storeForTests('sqlite')
    const query = sql<{ body: Buffer | null }>`select null as body union all select x'6162'
      union all select null union all select x'63'`
    const { rows } = await query.execute(place.store.slowReads.query)
    assert.deepEqual(
      rows.map(({ body }) => body),
      [null, Buffer.from('ab'), null, Buffer.from('c')],
    )
    assert.ok(rows.every(({ body }) => body === null || Buffer.isBuffer(body)))
  })

  test('nothing can be written, and no more wait than may', async () => {
    await using place = await storeForTests('sqlite')
    const { store } = place
    await assert.rejects(
      sql`delete from organization returning id`.execute(store.slowReads.query),
      {
        code: 'SQLITE_READONLY',
      },
    )
    const asked = await Promise.allSettled(Array.from({ length: 80 }, () => count(store, 1000)))
    const refused = asked.filter((each) => each.status === 'rejected')
    assert.equal(refused.length, 16)
    for (const { reason } of refused) {
      assert.ok(reason instanceof Problem)
      assert.equal(reason.code, 'storage_unavailable')
      assert.equal(reason.headers?.['Retry-After'], '5')
    }
  })
})

test('a query that an index answers is not one that reads all', () => {
  const named: DirectoryCondition = {
    kind: 'compare',
    field: { column: 'user_name_key' },
    operator: 'eq',
    value: 'a',
  }
  const titled: DirectoryCondition = {
    kind: 'compare',
    field: { path: ['title'], type: 'text' },
    operator: 'co',
    value: 'a',
  }
  const reads = (condition: DirectoryCondition | undefined): boolean =>
    directoryLists.readsAll({ condition, sort: undefined })
  assert.equal(reads(undefined), false)
  assert.equal(reads(named), false)
  assert.equal(reads({ kind: 'and', terms: [titled, named] }), false)
  assert.equal(reads(titled), true)
  assert.equal(reads({ kind: 'or', terms: [titled, named] }), true)
  assert.equal(reads({ kind: 'not', term: named }), true)
})

async function amount({ slowReads }: Store): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from change`.execute(
    slowReads.query,
  )
  return rows[0]?.n ?? 0
}

async function count({ slowReads }: Store, upTo: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`with recursive number(n) as
    (select 1 union all select n + 1 from number where n < ${sql.lit(upTo)})
    select count(*) as n from number`.execute(slowReads.query)
  return rows[0]?.n ?? 0
}
