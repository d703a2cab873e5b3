import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyCache, Keys, type Scheme } from '../../src/access/index.ts'
import { Problem } from '../../src/errors.ts'
import { createIdentify } from '../../src/gateway/identify.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { mintCredential } from '../../src/secrets/index.ts'
import type { Store } from '../../src/store/index.ts'
import { heapInUse } from '../harness/heap.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'

const enabledSchemes: readonly Scheme[] = ['x-api-key', 'bearer']
const tries = 100_000
const mebibyte = 1024 * 1024

for (const engine of engines) {
  test(`100,000 bad keys from 50 addresses leave no row and no lasting memory on ${engine}`, async () => {
    const clock = steadyClock()
    await using opened = await storeForTests(engine, clock)
    const { store } = opened
    const organizations = new Organizations({ store })
    const { id } = await organizations.create({ slug: 'acme' }, { kind: 'operator' })
    const input = { name: 'good', scheme: 'x-api-key' } as const
    const { secret } = await new Keys({ store, clock }).issue(id, input, { kind: 'operator' })
    const keyCache = createKeyCache({ store, clock, enabledSchemes, capacity: 1000 })
    const failures = { calls: 20, perSeconds: 1, burst: 100 }
    // The clock does not advance, so the limit never refills: each address has exactly its burst of failures.
    const still = { now: clock.now, monotonic: () => 1000 }
    const identify = createIdentify({ keyCache, enabledSchemes, clock: still, failures })
    const ask = async (key: string, address: string): Promise<string> => {
      const head = { apiKey: key, apiKeyCount: 1, authorization: undefined, authorizationCount: 0 }
      const found = await identify(head, address, store.moment())
      return found instanceof Problem ? found.code : 'admitted'
    }
    // Every second key is well-formed, so that only the database can tell that it does not exist.
    const badKeyAt = (at: number) =>
      at % 2 === 0
        ? mintCredential('svc_live_').secret.reveal()
        : `${secret.reveal().slice(0, -1)}!`

    for (let at = 0; at < 2000; at++) await ask(badKeyAt(at), '192.0.2.1')
    const rowsBefore = await rowsIn(store)
    const heapBefore = heapInUse()
    const answers = new Map<string, number>()
    for (let at = 0; at < tries; at++) {
      const code = await ask(badKeyAt(at), `198.51.100.${Math.floor(at / 2) % 50}`)
      answers.set(code, (answers.get(code) ?? 0) + 1)
    }
    const grownBytes = heapInUse() - heapBefore
    assert.deepEqual([...answers.keys()].toSorted(), ['credential_invalid', 'rate_limited'])
    assert.ok(grownBytes < 4 * mebibyte, `${grownBytes} bytes more`)
    assert.equal(keyCache.size, 0)
    assert.deepEqual(await rowsIn(store), rowsBefore)
    assert.equal(await ask(secret.reveal(), '192.0.2.9'), 'admitted')
  })
}

/** Counts the rows of tables in which bad keys could leave traces. */
async function rowsIn(store: Store): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const table of ['api_key', 'key_secret', 'audit_entry', 'event'] as const) {
    const found = await store.query.selectFrom(table).selectAll().execute()
    rows[table] = found.length
  }
  const records = store.engine === 'sqlite' ? 'call_block' : 'call'
  for (const table of [records, 'call_minute'] as const) {
    const found = await store.calls.query.selectFrom(table).selectAll().execute()
    rows[table] = found.length
  }
  return rows
}
