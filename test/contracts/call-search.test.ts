import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery, sql, type KyselyPlugin } from 'kysely'
import { createId, timeOfId } from '../../src/ids.ts'
import {
  callCondition,
  calls,
  callSearch,
  type CallFilter,
  type CallRecord,
  type Db,
} from '../../src/store/index.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

const organizationId = createId('org')
const neighbourId = createId('org')
const keys = [createId('key'), createId('key'), createId('key')]
const targets = [createId('tgt'), createId('tgt')]
const count = 3000

for (const engine of engines) {
  describe(`searching calls on ${engine}`, { timeout: 120_000 }, () => {
    const clock = steadyClock()
    let place: TestStore
    before(async () => {
      place = await storeForTests(engine, clock)
      for (let at = 0; at < count; at += 500) {
        const batch = Array.from({ length: 500 }, (_, row) => callOf(at + row, clock.now()))
        await place.store.transactionOnCalls(async (tx) => await calls.insert(tx, batch))
      }
    })
    after(async () => await place[Symbol.asyncDispose]())

    for (const [name, filter] of Object.entries(filters(clock.now()))) {
      test(`${name}: pages of a search are those of the whole list, and each looks at a few calls only`, async () => {
        const { store } = place
        const whole = await calls.list(store.calls, organizationId, { ...filter, limit: count })
        const found: CallRecord[] = []
        let before: string | undefined
        let pages = 0
        do {
          const page = { ...filter, before, limit: 40, maxExamined: 700 }
          const part = await callSearch.search(store.calls, organizationId, page)
          found.push(...part.calls)
          const isFull = part.calls.length === 40
          before = part.searchedTo ?? (isFull ? part.calls.at(-1)?.id : undefined)
          if (part.searchedTo !== undefined) assert.ok(timeOfId(part.searchedTo) <= clock.now())
          pages++
        } while (before !== undefined)
        assert.deepEqual(found, whole)
        assert.ok(pages <= whole.length / 40 + count / 700 + 2, `${pages} pages`)
      })
    }

    test('however a slice is bounded, each way has one bound of ids', () => {
      const [early, middle, late] = [1_000_000, 2_000_000, 3_000_000] as const
      const at = (ms: number): string => createId('req', ms)
      for (const bounds of [
        { from: middle, to: late, before: at(late), downTo: at(early) },
        { from: early, to: late, before: at(middle), after: at(early), downTo: at(early) },
        { from: late, after: at(early), downTo: at(middle) },
        { from: early, after: at(late), downTo: at(middle) },
      ]) {
        const where = callCondition.callsThat(place.store.calls, organizationId, bounds)
        const { sql: text } = where.compile(place.store.calls.query)
        assert.ok((text.match(/\bid >=? /g) ?? []).length === 1, text)
        assert.ok((text.match(/\bid < /g) ?? []).length <= 1, text)
      }
    })

    test('calls of a key and those that failed are found by an index', async () => {
      const { store } = place
      if (engine === 'postgres') await sql`analyze call`.execute(store.calls.query)
      for (const filter of [{ keyId: keys[2] }, { statuses: [500, 600] as const }]) {
        const plan = await planOf(store.calls, async (db) => {
          await calls.list(db, organizationId, { ...filter, limit: 50 })
        })
        assert.doesNotMatch(plan, /Seq Scan|SCAN call/, plan)
        if (engine === 'sqlite') assert.match(plan, /SEARCH call_block/, plan)
      }
    })
  })
}

/** Returns the plans of all queries that a function makes. */
async function planOf({ query, engine }: Db, ask: (db: Db) => Promise<unknown>): Promise<string> {
  const sent: Parameters<KyselyPlugin['transformQuery']>[0][] = []
  const listener: KyselyPlugin = {
    transformQuery(given) {
      sent.push(given)
      return given.node
    },
    transformResult: async ({ result }) => result,
  }
  await ask({ engine, query: query.withPlugin(listener) })
  const explain = engine === 'postgres' ? 'explain' : 'explain query plan'
  const plans = sent.map(async ({ node, queryId }) => {
    const { sql: text, parameters } = query.getExecutor().compileQuery(node, queryId)
    const explaining = CompiledQuery.raw(`${explain} ${text}`, [...parameters])
    return (await query.executeQuery(explaining)).rows
  })
  return JSON.stringify(await Promise.all(plans))
}

function filters(now: number): Record<string, CallFilter> {
  return {
    'no filter': {},
    'a rare path': { path: '/api/v1/intercept/rare' },
    'a path nobody called': { path: '/nowhere' },
    'a common method': { method: 'GET' },
    'a rare word': { words: { text: 'RARE', keyIds: [] } },
    'an address': { address: '198.51.100.7' },
    'an address and a rare path': { address: '192.0.2.1', path: '/api/v1/intercept/rare' },
    'a key': { keyId: keys[2] },
    'a key and a check': { keyId: keys[0], stoppedAt: 'limits' },
    'failed calls': { statuses: [500, 600] },
    'one status of failed calls': { statuses: [503, 504] },
    'a status': { statuses: [403, 404] },
    'a check': { stoppedAt: 'limits' },
    'refused calls': { outcome: 'refused' },
    'upstream errors': { outcome: 'upstream_error' },
    'a target in a part of the time': {
      ...{ targetId: targets[1], path: '/api/v1/intercept/rare' },
      ...{ from: now - 2_500_000, to: now - 500_000 },
    },
  }
}

/** Makes the call for a row number: one call per second, every tenth in another organization. */
function callOf(row: number, now: number): CallRecord {
  const at = now - (count - row) * 1000
  const isRare = row % 487 === 3
  const isRefused = row % 7 === 0
  return {
    ...{ id: createId('req', at), at },
    organizationId: row % 10 === 0 ? neighbourId : organizationId,
    keyId: keys[row % 100 === 9 ? 2 : row % 2] ?? 'key_',
    targetId: targets[row % 2],
    method: row % 50 === 1 ? 'DELETE' : 'GET',
    path: `/api/v1/intercept/${isRare ? 'rare' : 'often'}/${row % 97}`,
    status: isRefused ? 403 : row % 91 === 5 ? 502 : row % 401 === 8 ? 503 : 200,
    refusal: isRefused ? 'rule_denied' : undefined,
    stoppedAt: isRefused ? (row % 3 === 0 ? 'limits' : 'rules') : undefined,
    ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 300, bytesOut: 2000 },
    ...{ durationUs: 1000, upstreamUs: 900 },
    address: isRare ? '198.51.100.7' : `192.0.2.${row % 5}`,
    ...{ agent: 'test/1', capture: undefined },
  }
}
