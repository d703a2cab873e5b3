import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/clock.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { DirectoryGroups } from '../../src/directory/groups.ts'
import {
  asStorageProblem,
  auditEntries,
  auditHash,
  organizations,
  type Store,
  type Tx,
} from '../../src/store/index.ts'
import { subjectText } from '../../src/store/db/changes.ts'
import type { Collected } from '../../src/store/db/db.ts'
import { CommitQueues, type CommitDeps } from '../../src/store/engine/shared-commits.ts'
import { emptyPlace, engines } from './engines.ts'

for (const engine of engines) {
  describe(`queued works on ${engine}`, () => {
    test('run one after the other, each seeing what those before it have written', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const id = await addOrganization(store, 'acme')
      const lengths = await inLine(store, 20, async (tx) => {
        const [row] = await namesOf(tx)
        const name = `${row ?? ''}x`
        await sql`update organization set name = ${name} where id = ${id}`.execute(tx.query)
        return name.length
      })
      assert.deepEqual(
        lengths.map((one) => one.status === 'fulfilled' && one.value),
        Array.from({ length: 20 }, (_, at) => 'acme'.length + 1 + at),
      )
    })

    test('fail each by itself: rows, audit entries and changes of one that throws are gone, with no gap in the chain', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const id = await addOrganization(store, 'acme')
      const heard: string[] = []
      store.feed.on(
        'key',
        ({ subjectId }) => heard.push(subjectId),
        () => undefined,
      )
      const ends = await inLine(store, 12, async (tx, at) => {
        await insertOrganization(tx, `slug-${at}`)
        record(tx, id, `made-${at}`)
        tx.changed({ kind: 'key', organizationId: id, subjectId: `key_${at}` })
        if (at % 3 === 0) throw new Error(`no ${at}`)
        // The database itself refuses a duplicate. On PostgreSQL, this aborts the transaction.
        if (at % 3 === 1)
          await sql`insert into organization select * from organization`.execute(tx.query)
        return at
      })
      assert.deepEqual(
        ends.map(({ status }) => status === 'fulfilled'),
        Array.from({ length: 12 }, (_, at) => at % 3 === 2),
      )
      const kept = ['2', '5', '8', '11']
      assert.deepEqual(
        (await namesOf(store)).toSorted(),
        ['acme', ...kept.map((at) => `slug-${at}`)].toSorted(),
      )
      assert.deepEqual(
        heard,
        kept.map((at) => `key_${at}`),
      )
      const entries = (await auditEntries.list(store, id, { limit: 100 })).toReversed()
      assert.deepEqual(
        entries.map(({ subject_id: id }) => id),
        kept.map((at) => `made-${at}`),
      )
      for (const [at, entry] of entries.entries()) {
        assert.equal(entry.sequence, at + 1)
        assert.equal(entry.previous_hash, entries[at - 1]?.hash ?? entry.previous_hash)
        assert.equal(entry.hash, auditHash(entry))
      }
    })

    test('are run again alone where only another try helps, and where one of them spoils the ledger for all', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const id = await addOrganization(store, 'acme')
      const tries = new Map<number, number>()
      const ends = await inLine(store, 6, async (tx, at) => {
        tries.set(at, (tries.get(at) ?? 0) + 1)
        record(tx, at === 3 ? createId('org') : id, `made-${at}`)
        if (engine === 'postgres' && at === 1 && tries.get(1) === 1) {
          throw Object.assign(new Error('could not serialize access'), { code: '40001' })
        }
        return at
      })
      assert.deepEqual(
        ends.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      )
      assert.equal((await auditEntries.list(store, id, { limit: 100 })).length, 5)
    })
  })
}

describe('queued works on postgres, side by side', () => {
  test('are answered whatever they throw', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    const ends = await inLine(store, 3, async (_, at) => {
      if (at === 1) await Promise.reject(undefined)
      return at
    })
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })

  test('share a commit when they wait at the same time, and different queues do not wait for each other', async () => {
    await using place = await emptyPlace('postgres')
    // The clock does not advance, so that the commit waits for all of the jobs, however slow the machine is.
    await using store = await place.open({ clock: { ...systemClock, monotonic: () => 0 } })
    const transactions = await inLine(store, 20, async (tx) => await transactionOf(tx))
    const numbers = transactions.map((one) => one.status === 'fulfilled' && one.value)
    assert.equal(new Set(numbers).size, 1)
    const both = Promise.withResolvers<void>()
    let inside = 0
    await Promise.all(
      ['one', 'other'].map(
        async (queue) =>
          await store.transactionConfirmed(
            async () => {
              if (++inside === 2) both.resolve()
              await both.promise
            },
            { queue },
          ),
      ),
    )
  })
})

test('a change of a group waits in no queue of another organization, whatever id it names', async () => {
  await using place = await emptyPlace('postgres')
  await using store = await place.open()
  const [own, other] = [await addOrganization(store, 'own'), await addOrganization(store, 'other')]
  const none = async (): Promise<never> => assert.fail('there is nothing to change')
  const groups = new DirectoryGroups({
    store,
    tokens: { whileGood: async (_change, work) => await work() },
    roles: { apply: none, preview: none },
  })
  const change = async (): Promise<unknown> =>
    await groups.change({ organizationId: own, actor: { kind: 'directory' } }, other, none as never)
  const answered = Promise.withResolvers<void>()
  const busy = store.transactionConfirmed(async () => await answered.promise, { queue: other })
  await assert.rejects(change(), { code: 'not_found' }).finally(answered.resolve)
  await busy
})

describe('queues', () => {
  const collected = { audits: [], events: [], changes: [] }
  const transaction = {} as Tx
  const nothing = async (): Promise<void> => undefined
  const deps: CommitDeps = {
    async shared(works) {
      await works({ transaction, collected, mark: nothing, goBack: nothing })
      return []
    },
    alone: () => assert.fail('nothing is to be run again'),
    isWorthAnotherTry: () => false,
    monotonic: () => 0,
  }

  test('run nothing again when the connection broke: the commit may have arrived', async () => {
    for (const code of ['ECONNRESET', 'ECONNABORTED', 'ENETDOWN', 'EPROTO', 'ERR_SSL_BAD_RECORD']) {
      const queues = new CommitQueues({
        ...deps,
        async shared(works, mayBeLost) {
          await deps.shared(works, mayBeLost)
          throw Object.assign(new Error('read'), { code })
        },
      })
      const ends = await Promise.allSettled(
        [1, 2].map(async (each) => await queues.commit('a', async () => each)),
      )
      for (const end of ends) {
        assert.equal(end.status === 'rejected' && (end.reason as { code: string }).code, code)
      }
    }
  })

  test('refuse who has waited too long behind another, who is not held up', async () => {
    const queues = new CommitQueues({ ...deps, waitMs: 20 })
    const busy = Promise.withResolvers<number>()
    const first = queues.commit('a', async () => await busy.promise)
    const late = queues.commit('a', () => assert.fail('its caller was answered already'))
    await assert.rejects(late, (error) => asStorageProblem(error)?.code === 'storage_unavailable')
    busy.resolve(1)
    assert.equal((await first).result, 1)
    assert.equal((await queues.commit('a', async () => 2)).result, 2)
  })

  test('leave the process its turns, though works follow each other without end', async () => {
    const queues = new CommitQueues(deps)
    const timer = new AbortController()
    let works = 0
    const follow = async (): Promise<void> => {
      for (let each = 0; each < 2000 && !timer.signal.aborted; each++) {
        await queues.commit('a', async () => works++)
      }
    }
    setTimeout(() => timer.abort(), 1)
    await Promise.all(Array.from({ length: 50 }, follow))
    assert.ok(works < 100_000, 'a timer came only after all works')
  })
})

test('when nothing can begin, all in the queue are refused, and the next one tries anew', async () => {
  let isAway = true
  const queues = new CommitQueues({
    async shared(works) {
      if (isAway) throw new Error('timeout exceeded when trying to connect')
      const collected = { audits: [], events: [], changes: [] }
      const transaction = {} as Tx
      const nothing = async (): Promise<void> => undefined
      await works({ transaction, collected, mark: nothing, goBack: nothing })
      return []
    },
    alone: () => assert.fail('nothing was begun'),
    isWorthAnotherTry: () => false,
    monotonic: () => 0,
  })
  const refused = await Promise.allSettled(
    [1, 2, 3].map(async (each) => await queues.commit('a', async () => each)),
  )
  assert.deepEqual(
    refused.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  isAway = false
  assert.equal((await queues.commit('a', async () => 4)).result, 4)
})

test('SQLite: only a commit that may be lost is spared the wait for the disk', async () => {
  await using place = await emptyPlace('sqlite')
  await using store = await place.open()
  const levelOf = async (tx: Tx) => {
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(tx.query)
    return rows[0]?.synchronous
  }
  const [normal, full] = [1, 2]
  assert.equal(await store.transactionThatMayBeLost(levelOf), normal)
  assert.equal(await store.transaction(levelOf), full)
  const failing = store.transactionThatMayBeLost(async () => {
    throw new Error('not today')
  })
  await assert.rejects(failing, /not today/)
  assert.equal(await store.transaction(levelOf), full)
})

test('what may be lost with the power shares commits, but none that waits for no disk holds what must be kept', async () => {
  const commits: string[] = []
  let names: string[] = []
  const queues = new CommitQueues({
    async shared(works, mayBeLost) {
      names = []
      const collected = { audits: [], events: [], changes: [] }
      const nothing = async (): Promise<void> => undefined
      await works({ transaction: {} as Tx, collected, mark: nothing, goBack: nothing })
      commits.push(`${mayBeLost ? 'soon' : 'on disk'}: ${names.join(' ')}`)
      return []
    },
    alone: () => assert.fail('nothing is run again'),
    isWorthAnotherTry: () => false,
    monotonic: () => 0,
  })
  const works = ['use 1', 'use 2', 'revocation', 'use 3', 'key', 'use 4'].map(
    async (name) =>
      await queues.commit('all', async () => void names.push(name), name.startsWith('use')),
  )
  await Promise.all(works)
  assert.deepEqual(commits, ['soon: use 1 use 2', 'on disk: revocation use 3 key use 4'])
})

test('what the ledger adds to the changes of works is told once, by the first that succeeded', async () => {
  const queues = new CommitQueues({
    async shared(works) {
      const collected: Collected = { audits: [], events: [], changes: [] }
      const transaction = { changed: (draft) => void collected.changes.push(draft) } as Tx
      const nothing = async (): Promise<void> => undefined
      await works({ transaction, collected, mark: nothing, goBack: nothing })
      collected.changes.push({ kind: 'delivery', organizationId: 'org_1', endpointIds: ['ep_1'] })
      return collected.changes.map((draft, at) => ({ ...draft, sequence: at + 1, token: '' }))
    },
    alone: () => assert.fail('nothing is run again'),
    isWorthAnotherTry: () => false,
    monotonic: () => 0,
  })
  const ends = await Promise.allSettled(
    ['a', 'b', 'c'].map(
      async (subjectId) =>
        await queues.commit('queue', async (tx) => {
          tx.changed({ kind: 'key', organizationId: 'org_1', subjectId: `key_${subjectId}` })
          if (subjectId === 'b') throw new Error('no')
        }),
    ),
  )
  const told = ends.map((end) =>
    end.status === 'fulfilled'
      ? end.value.changes.map((change) => [subjectText(change), change.sequence])
      : end.status,
  )
  assert.deepEqual(told, [
    [
      ['key_a', 1],
      ['ep_1', 3],
    ],
    'rejected',
    [['key_c', 2]],
  ])
})

async function inLine<T>(
  store: Store,
  amount: number,
  work: (tx: Tx, at: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  return await Promise.allSettled(
    Array.from({ length: amount }, async (_, at) => {
      const done = await store.transactionConfirmed(async (tx) => await work(tx, at), {
        isNeeded: () => false,
        queue: 'the queue',
      })
      return done.result
    }),
  )
}

async function addOrganization(store: Store, slug: string): Promise<OrganizationId> {
  return await store.transaction(async (tx) => await insertOrganization(tx, slug))
}

async function insertOrganization(tx: Tx, slug: string): Promise<OrganizationId> {
  const id = createId('org')
  await organizations.insert(tx, { id, slug, name: slug, plan: 'standard' })
  return id
}

async function namesOf(at: Store | Tx): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from organization`.execute(at.query)
  return rows.map(({ name }) => name)
}

async function transactionOf(tx: Tx): Promise<unknown> {
  const { rows } = await sql<{ id: unknown }>`select txid_current() as id`.execute(tx.query)
  return rows[0]?.id
}

function record(tx: Tx, organizationId: OrganizationId, made: string): void {
  tx.audit({
    organizationId,
    actor: { kind: 'operator' },
    action: 'target.created',
    subject: { kind: 'target', id: made },
    detail: {},
  })
}
