// npm run bench -- calls [records] [sqlite|postgres]: lists, filters and charts over many call records, p95 of each.
import { parseArgs } from 'node:util'
import { createTraffic } from '../src/calls/index.ts'
import { createId, timeOfId, type OrganizationId } from '../src/ids.ts'
import {
  callPartitions,
  calls,
  callSearch,
  traffic,
  type CallRecord,
  type Engine,
  type Store,
} from '../src/store/index.ts'
import { engines, steadyClock, storeForTests } from '../test/harness/store.ts'

const days = 30
const dayMs = 86_400_000
const rounds = 20
const maxP95Ms = 300
const rowsInBatch = 2000
const keys = Array.from({ length: 200 }, () => createId('key'))
const targets = Array.from({ length: 20 }, () => createId('tgt'))
const addresses = Array.from({ length: 500 }, (_, at) => `192.0.${at >> 8}.${at & 255}`)
const stops = ['key', 'address', 'rules', 'limits'] as const
const rare = { address: '198.51.100.7', path: '/api/v1/intercept/rare/path' }

/** Where a search stopped that would have looked at too much at once; undefined when the page is what there is. */
type Query = (store: Store, organizationId: OrganizationId) => Promise<string | undefined>

/** What the page of calls asks for: each filter alone, and the charts. */
function queriesAt(now: number): Record<string, Query> {
  const list =
    (filter: Partial<callSearch.CallSearch>): Query =>
    async (store, organizationId) => {
      const endsAt = performance.now() + 150
      const hasTime = (): boolean => performance.now() < endsAt
      const page = { limit: 50, hasTime, ...filter }
      return (await callSearch.search(store.slowCallReads, organizationId, page)).searchedTo
    }
  const chart =
    (wish: { keyId?: string; targetId?: string; days: number }): Query =>
    async (store, organizationId) => {
      await createTraffic({ store, clock: { now: () => now } }).rollup(organizationId, {
        ...wish,
        ...{ from: now - wish.days * dayMs, to: now, stepMs: (wish.days * dayMs) / 60 },
      })
      return undefined
    }
  return {
    newest: list({}),
    'older page': list({ before: createId('req', now - 20 * dayMs) }),
    'a key': list({ keyId: keys[7] }),
    'a target': list({ targetId: targets[3] }),
    'status 403': list({ statuses: [403, 404] }),
    'status 5xx (1 in 1,000)': list({ statuses: [500, 600] }),
    'a check': list({ stoppedAt: 'limits' }),
    'a method': list({ method: 'DELETE' }),
    'a path (common)': list({ path: '/api/v1/intercept/t3/' }),
    'words of a path (none)': list({ words: { text: 'nowhere', keyIds: [] } }),
    'upstream errors': list({ outcome: 'upstream_error' }),
    'an address and 5xx': list({ address: addresses[3], statuses: [500, 600] }),
    'an address': list({ address: addresses[3] }),
    'a path (1 in 1,000,000)': list({ path: rare.path }),
    'an address (1 in 1,000,000)': list({ address: rare.address }),
    'a day, a week ago': list({ from: now - 8 * dayMs, to: now - 7 * dayMs }),
    'chart of a day': chart({ days: 1 }),
    'chart of 30 days': chart({ days: 30 }),
    'chart of a target, 30 days': chart({ days: 30, targetId: targets[3] ?? '' }),
    'chart of a key, a day': chart({ days: 1, keyId: keys[7] ?? '' }),
  }
}

async function measure(engine: Engine, total: number): Promise<boolean> {
  const clock = steadyClock()
  await using place = await storeForTests(engine, clock)
  const { store } = place
  const organizationId = createId('org')
  const now = clock.now()
  const startedAt = performance.now()
  await seed(store, { organizationId, total, clock })
  const seconds = (performance.now() - startedAt) / 1000
  console.log(
    `\ncalls on ${engine}: ${total} records over ${days} days (seeded in ${seconds.toFixed(0)} s)`,
  )
  let isMet = true
  for (const [name, query] of Object.entries(queriesAt(now))) {
    const times: number[] = []
    let searchedTo: string | undefined
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      searchedTo = await query(store, organizationId)
      times.push(performance.now() - begin)
    }
    const p95 = times.toSorted((a, b) => a - b)[Math.ceil(rounds * 0.95) - 1] ?? 0
    isMet &&= p95 <= maxP95Ms
    const against = p95 <= maxP95Ms ? 'met' : 'MISSED'
    console.log(
      `  ${name.padEnd(30)}${p95.toFixed(1).padStart(9)} ms  (bar: ${maxP95Ms}: ${against})${searchedTo === undefined ? '' : `, searched back ${((now - timeOfId(searchedTo)) / dayMs).toFixed(1)} days, then asks to go on`}`,
    )
  }
  await measureRetention(store, now)
  return isMet
}

/** Writes as the recorder does, day by day, so that each day has its partition. */
async function seed(
  store: Store,
  wish: {
    organizationId: OrganizationId
    total: number
    clock: ReturnType<typeof steadyClock>
  },
): Promise<void> {
  const { organizationId, total, clock } = wish
  const now = clock.now()
  if (store.engine === 'postgres') {
    for (let day = days; day >= 0; day -= 7) {
      const at = now - day * dayMs
      await store.transactionOnCalls(
        async (tx) => await callPartitions.makePartitions({ ...tx, now: at }),
      )
    }
  }
  const stepMs = (days * dayMs) / total
  let counts = new Map<string, traffic.MinuteCounts>()
  for (let from = 0; from < total; from += rowsInBatch) {
    const batch: CallRecord[] = []
    for (let row = from; row < Math.min(total, from + rowsInBatch); row++) {
      batch.push(recordOf(organizationId, row, Math.floor(now - days * dayMs + row * stepMs)))
    }
    for (const record of batch) count(counts, record)
    const isLast = from + rowsInBatch >= total
    await store.transactionOnCalls(async (tx) => {
      await calls.insert(tx, batch)
      if (counts.size > 5000 || isLast) {
        await traffic.addMinutes(tx, [...counts.values()])
        counts = new Map()
      }
    })
  }
}

function recordOf(organizationId: OrganizationId, row: number, at: number): CallRecord {
  const isRefused = row % 11 === 0
  const isRare = row % 1_000_000 === 999
  const target = row % targets.length
  return {
    ...{ id: createId('req', at), at, organizationId },
    keyId: keys[row % keys.length] ?? 'key_',
    targetId: targets[target] ?? 'tgt_',
    method: row % 50 === 0 ? 'DELETE' : 'GET',
    path: isRare ? rare.path : `/api/v1/intercept/t${target}/things/${row % 997}`,
    status: isRefused ? 403 : row % 1000 === 7 ? 502 : 200,
    refusal: isRefused ? 'rule_denied' : undefined,
    stoppedAt: isRefused ? stops[row % stops.length] : undefined,
    ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 300, bytesOut: 2000 },
    ...{ durationUs: 1000 + ((row * 7919) % 90_000), upstreamUs: 900 },
    address: isRare ? rare.address : (addresses[row % addresses.length] ?? ''),
    ...{ agent: 'bench/1', capture: undefined },
  }
}

function count(counts: Map<string, traffic.MinuteCounts>, record: CallRecord): void {
  const minute = record.at - (record.at % 60_000)
  const name = `${minute} ${record.targetId} ${record.stoppedAt ?? ''}`
  const known = counts.get(name)
  counts.set(name, {
    organizationId: record.organizationId,
    minute,
    targetId: record.targetId ?? '',
    stoppedAt: record.stoppedAt ?? '',
    calls: (known?.calls ?? 0) + 1,
    errors: (known?.errors ?? 0) + (record.status >= 500 ? 1 : 0),
    bytesIn: (known?.bytesIn ?? 0) + record.bytesIn,
    bytesOut: (known?.bytesOut ?? 0) + record.bytesOut,
    durationUs: (known?.durationUs ?? 0) + record.durationUs,
  })
}

/** Half of the days go. */
async function measureRetention(store: Store, now: number): Promise<void> {
  if (store.engine !== 'postgres') return
  const times: number[] = []
  for (;;) {
    const begin = performance.now()
    const isGone = await store.transactionOnCalls(
      async (tx) => await callPartitions.dropPartition(tx, now - 15 * dayMs),
    )
    if (!isGone) break
    times.push(performance.now() - begin)
  }
  const sum = times.reduce((total, time) => total + time, 0)
  const longest = Math.max(0, ...times)
  console.log(
    `  retention drops ${times.length} days in ${sum.toFixed(0)} ms, the longest in ${longest.toFixed(0)} ms`,
  )
}

const { positionals } = parseArgs({ allowPositionals: true })
const total = Number(positionals.find((word) => /^\d+$/.test(word)) ?? 200_000)
const named = engines.filter((engine) => positionals.includes(engine))
let isMet = true
for (const engine of named.length > 0 ? named : engines)
  isMet = (await measure(engine, total)) && isMet
process.exit(isMet ? 0 : 1)
