import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { sql, type KyselyPlugin } from 'kysely'
import { systemClock } from '../../src/clock.ts'
import { createId, timeOfId, type KeyId, type OrganizationId } from '../../src/ids.ts'
import { digest } from '../../src/secrets/index.ts'
import {
  calls,
  createCallRowsBuffer,
  callSearch,
  callTimes,
  keyCallers,
  openStore,
  type CallFilter,
  type CallRecord,
  type Db,
  type Store,
} from '../../src/store/index.ts'
import { randomFrom } from '../harness/random.ts'
import { engines, storeForTests } from '../harness/store.ts'

const now = 1_800_000_000_000
const organizations = [createId('org'), createId('org')] as const
const keys = Array.from({ length: 5 }, () => createId('key'))
const targets = [createId('tgt'), createId('tgt')]
const paths = ['/api/v1/intercept/api/a', '/api/v1/intercept/api/b;x', '/api/v1/intercept/Else']

for (const engine of engines) {
  describe(`call records of many kinds on ${engine}`, { timeout: 120_000 }, () => {
    // Only SQLite has blocks.
    for (const seed of engine === 'sqlite' ? [1, 2, 3] : [1]) {
      test(`every filter finds the calls that it should, in order, before and after blocks are merged (seed ${seed})`, async () => {
        await using place = await storeForTests(engine)
        const { store } = place
        const random = randomFrom(seed)
        const records = await fill(store, random)
        await checkAll(store, records, random)
        if (engine === 'postgres') return
        const before = await blocksOf(store)
        while (await store.mergeCalls(now + 1)) continue
        assert.ok((await blocksOf(store)) < before)
        await checkAll(store, records, random)
      })
    }
  })
}

describe('blocks of call records', () => {
  test('leave nothing behind when they are forgotten', async () => {
    await using place = await storeForTests('sqlite')
    const { store } = place
    const records = await fill(store, randomFrom(4))
    const middle = now - 40_000
    for (const organizationId of organizations) {
      const gone = { organizationId, beforeId: createId('req', middle), limit: 50 }
      while (await store.forgetCalls(gone)) continue
      const left = await calls.list(store.calls, organizationId, { limit: 10_000 })
      const own = records.filter((record) => record.organizationId === organizationId)
      const due = own.filter(({ id }) => timeOfId(id) >= middle)
      // A block is deleted only as a whole, so calls of the last seconds before the time may be left.
      assert.ok(left.length >= due.length && left.length <= due.length + 40)
      assert.ok(left.every(({ id }) => timeOfId(id) > middle - 10_000))
    }
    const { rows } = await sql<object>`select
      (select count(*) from call_block_rows where no not in (select no from call_block)) as rows,
      (select count(*) from call_block_key where no not in (select no from call_block)) as keys`.execute(
      store.calls.query,
    )
    assert.deepEqual(rows, [{ rows: 0, keys: 0 }])
  })

  test('are merged and forgotten at most 64 at a time, so that calls need not wait', async () => {
    await using place = await storeForTests('sqlite')
    const { store } = place
    const [organizationId] = organizations
    // Calls that are 20 s apart can never be merged, and each has a block of its own.
    for (let at = 0; at < 200; at++) {
      const record = { ...recordOf(randomFrom(at), now - at * 20_000), organizationId }
      await store.transactionOnCalls(async (tx) => await calls.insert(tx, [record]))
    }
    const merge = async () => await store.mergeCalls(now + 1)
    const gone = { organizationId, beforeId: createId('req', now + 1), limit: 512 }
    const forget = async () => await store.forgetCalls(gone)
    for (const left of [136, 72, 8, 0]) {
      assert.equal(await merge(), left > 0)
      assert.equal(await smallBlocksOf(store), left)
    }
    for (const left of [136, 72, 8, 0]) {
      assert.equal(await forget(), left > 0)
      assert.equal(await blocksOf(store), left)
    }
  })

  test('take in the records of a database that still has them as rows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-test-'))
    try {
      const records = Array.from({ length: 3000 }, (_, at) =>
        recordOf(randomFrom(at), now - at * 7),
      )
      makeFormerFile(join(folder, 'calls.db'), records)
      await using store = await openStore({ folder, clock: systemClock, isNode: false })
      for (const organizationId of organizations) {
        const own = records.filter((record) => record.organizationId === organizationId)
        const found = await calls.list(store.calls, organizationId, { limit: 10_000 })
        assert.deepEqual(found, newestFirst(own))
      }
      // Blocks of sorted rows have no more neighbours to be merged with.
      assert.equal(await smallBlocksOf(store), 0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('bring to the asking thread only the rows and columns that were asked for', async () => {
    await using place = await storeForTests('sqlite')
    const { store } = place
    const [organizationId] = organizations
    const [keyId] = keys as [KeyId]
    const rows = createCallRowsBuffer('sqlite')
    const capture = JSON.stringify({ body: 'x'.repeat(400) })
    for (let at = 0; at < 100; at++) {
      rows.add({ ...recordOf(randomFrom(at), now - at), organizationId, keyId, capture })
    }
    for (const batch of rows.take()) await store.insertCalls(batch)
    const measured = measuringResults(store.calls)
    const page = await calls.list(measured.db, organizationId, { limit: 3 })
    assert.equal(page.length, 3)
    assert.ok(measured.bytes < 10 * capture.length, `${measured.bytes} bytes for three calls`)
    measured.bytes = 0
    const callers = await keyCallers.listRecent(measured.db, { organizationId, keyId, most: 100 })
    assert.equal(callers.of, 100)
    assert.ok(measured.bytes < 100 * capture.length, `${measured.bytes} bytes without captures`)
  })
})

/** Measures what the database returns for the queries of `db`, as JSON. */
function measuringResults(db: Db): { readonly db: Db; bytes: number } {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      measured.bytes += JSON.stringify(result.rows).length
      return result
    },
  }
  const measured = { db: { ...db, query: db.query.withPlugin(plugin) }, bytes: 0 }
  return measured
}

/** Writes calls as nodes do: in the order in which they end, and in batches of any size. */
async function fill(store: Store, random: () => number): Promise<CallRecord[]> {
  const records: CallRecord[] = []
  const rows = createCallRowsBuffer(store.engine)
  for (let at = now - 80_000; at < now; at += Math.floor(random() * 100)) {
    const burst = random() < 0.02 ? 150 : 1
    for (let one = 0; one < burst; one++) {
      // A few calls take so long that they end long after calls that arrived later.
      const tookMs = random() < 0.1 ? random() * 60_000 : random() * 200
      const record = recordOf(random, Math.floor(at - tookMs))
      records.push(record)
      rows.add(record)
    }
    if (random() > 0.1) continue
    for (const batch of rows.take()) await store.insertCalls(batch)
  }
  for (const batch of rows.take()) await store.insertCalls(batch)
  return records
}

function recordOf(random: () => number, arrivedAt: number): CallRecord {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const isRefused = random() < 0.2
  return {
    id: createId('req', arrivedAt),
    at: arrivedAt,
    organizationId: pick(organizations),
    keyId: random() < 0.02 ? (keys[4] as KeyId) : pick(keys.slice(0, 4)),
    targetId: random() < 0.1 ? undefined : pick(targets),
    method: pick(['GET', 'POST']),
    path: pick(paths),
    status: isRefused ? 403 : pick([200, 200, 200, 200, 404, 502]),
    refusal: isRefused ? 'rule_denied' : undefined,
    stoppedAt: isRefused ? pick(['rules', 'limits', 'forward']) : undefined,
    ruleId: undefined,
    trialRuleId: undefined,
    bytesIn: Math.floor(random() * 100),
    bytesOut: 5,
    durationUs: Math.floor(random() * 90_000),
    upstreamUs: random() < 0.1 ? undefined : 900,
    address: pick(['192.0.2.1', '2001:db8::1']),
    agent: pick([undefined, 'a "quoted" agent\u00e9']),
    capture: random() < 0.05 ? '{"a":"\u20ac"}' : undefined,
  }
}

async function checkAll(store: Store, records: readonly CallRecord[], random: () => number) {
  const middle = Math.floor(now - 40_000 - random() * 10_000)
  const filters: CallFilter[] = [
    {},
    { keyId: keys[0] },
    { keyId: keys[4] },
    { statuses: [500, 600] },
    { statuses: [404, 405], keyId: keys[1] },
    { targetId: targets[1], method: 'POST' },
    { outcome: 'refused' },
    { outcome: 'upstream_error', address: '2001:db8::1' },
    { outcome: 'answered', stoppedAt: undefined },
    { stoppedAt: 'limits' },
    { path: '/api/v1/intercept/api/' },
    { words: { text: 'ELSE', keyIds: [] } },
    { words: { text: 'b;x', keyIds: [keys[4] ?? ''] } },
    { from: middle, to: middle + 20_000 },
    { keyId: keys[2], from: middle },
    { endedFrom: middle, from: middle - 60_000, to: middle + 1000 },
  ]
  for (const organizationId of organizations) {
    const own = newestFirst(records.filter((record) => record.organizationId === organizationId))
    for (const filter of [...filters, { id: own[7]?.id }, { id: createId('req', middle) }]) {
      const expected = own.filter((record) => matches(record, filter))
      const found = await calls.list(store.calls, organizationId, { ...filter, limit: 10_000 })
      assert.deepEqual(found, expected, JSON.stringify(filter))
      await checkPages(store, organizationId, { filter, expected })
    }
    for (const one of own.filter(() => random() < 0.02)) {
      assert.deepEqual(await calls.find(store.calls, organizationId, one.id), one)
    }
    assert.equal(await calls.find(store.calls, organizationId, createId('req', middle)), undefined)
    const [after, before] = [own[500]?.id, own[20]?.id]
    const between = await calls.list(store.calls, organizationId, { after, before, limit: 10_000 })
    assert.deepEqual(between, own.slice(21, 500))
    const range = { from: now - 80_000, to: now, stepMs: 20_000, parts: ['all'] as const }
    const timed = await callTimes.percentiles(store.calls, organizationId, range)
    const inRange = own.filter(({ at }) => at >= range.from)
    assert.equal(timed.find(({ step }) => step === -1)?.calls, inRange.length)
    const sampled = await callTimes.sampledPercentiles(store.calls, organizationId, range)
    const last = inRange.map(({ durationUs }) => durationUs).sort((a, b) => a - b)
    assert.equal(timed.find(({ step }) => step === -1)?.p50, last[Math.ceil(last.length / 2) - 1])
    assert.equal(
      sampled.find(({ step }) => step === -1)?.p50,
      timed.find(({ step }) => step === -1)?.p50,
    )
  }
}

async function checkPages(
  store: Store,
  organizationId: OrganizationId,
  { filter, expected }: { filter: CallFilter; expected: readonly CallRecord[] },
): Promise<void> {
  const found: CallRecord[] = []
  let before: string | undefined
  do {
    const page = { ...filter, before, limit: 60, maxExamined: 90 }
    const { calls: part, searchedTo } = await callSearch.search(store.calls, organizationId, page)
    found.push(...part)
    before = searchedTo ?? (part.length === 60 ? part.at(-1)?.id : undefined)
  } while (before !== undefined)
  assert.deepEqual(found, expected, JSON.stringify(filter))
}

function matches(record: CallRecord, filter: CallFilter): boolean {
  const { id, keyId, targetId, stoppedAt, outcome, statuses, method, path, words } = filter
  const { address, from = 0, to = Infinity, endedFrom = 0 } = filter
  const isError =
    record.stoppedAt === 'forward' || (record.stoppedAt === undefined && record.status >= 500)
  const ended = isError ? 'upstream_error' : record.stoppedAt === undefined ? 'answered' : 'refused'
  const rest = record.path.slice('/api/v1/intercept'.length).toLowerCase()
  return (
    (id ?? record.id) === record.id &&
    (keyId ?? record.keyId) === record.keyId &&
    (targetId === undefined || targetId === record.targetId) &&
    (stoppedAt === undefined || stoppedAt === record.stoppedAt) &&
    (outcome ?? ended) === ended &&
    (statuses === undefined || (record.status >= statuses[0] && record.status < statuses[1])) &&
    (method ?? record.method) === record.method &&
    record.path.startsWith(path ?? '') &&
    (words === undefined ||
      rest.includes(words.text.toLowerCase()) ||
      words.keyIds.includes(record.keyId)) &&
    (address ?? record.address) === record.address &&
    record.at >= from &&
    record.at < to &&
    record.at + Math.floor(record.durationUs / 1000) >= endedFrom
  )
}

function newestFirst(records: readonly CallRecord[]): CallRecord[] {
  return records.toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

async function blocksOf(store: Store): Promise<number> {
  const { rows } = await sql<{ blocks: number }>`select count(*) as blocks from call_block`.execute(
    store.calls.query,
  )
  return rows[0]?.blocks ?? 0
}

async function smallBlocksOf(store: Store): Promise<number> {
  const { rows } = await sql<{ blocks: number }>`select count(*) as blocks from call_block
    where may_merge = 1`.execute(store.calls.query)
  return rows[0]?.blocks ?? 0
}

/** Makes a file as the version before blocks would have: with the migrations until then, and records as rows. */
function makeFormerFile(path: string, records: readonly CallRecord[]): void {
  const folder = join(import.meta.dirname, '../../src/store/migrations/sqlite-calls')
  const file = new Database(path)
  file.exec('create table migration (name text primary key, digest text not null) strict')
  for (const name of readdirSync(folder).filter((each) => each < '0020')) {
    const text = readFileSync(join(folder, name), 'utf8')
    file.exec(text)
    file.prepare('insert into migration values (?, ?)').run(name, digest(text))
  }
  const insert = file.prepare(`insert into call values (${Array(19).fill('?').join(', ')})`)
  for (const one of records) {
    insert.run(
      ...[one.organizationId, one.id, one.at, one.keyId, one.targetId, one.method, one.path],
      ...[one.status, one.refusal, one.stoppedAt, one.ruleId, one.trialRuleId, one.bytesIn],
      ...[one.bytesOut, one.durationUs, one.upstreamUs, one.address, one.agent, one.capture],
    )
  }
  file.close()
}
