// npm run bench -- calls [records] [sqlite|postgres] [--targets n] [--keys n]: measures the p50 and p95 of lists,
// filters and charts over many call records and, on PostgreSQL, how long retention takes.
import { parseArgs } from 'node:util'
import { createTraffic } from '../src/calls/index.ts'
import { createId, idBound, timeOfId, type OrganizationId } from '../src/ids.ts'
import { callSearch, type Engine, type Store } from '../src/store/index.ts'
import { engines, steadyClock, storeForTests } from '../test/harness/store.ts'
import { measureRetention } from './calls-retention.ts'
import { addressOf, days, keyOf, rare, seed, targetOf } from './calls-seed.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const rounds = 20
const maxP95Ms = 300
const searchMs = 150

/** Runs one query; returns the time back to which it searched if it stopped early, undefined if it read everything. */
type Query = (store: Store, organizationId: OrganizationId) => Promise<number | undefined>

function lists(now: number): Record<string, Query> {
  const list =
    (filter: Partial<callSearch.CallSearch>): Query =>
    async (store, organizationId) => {
      const endsAt = performance.now() + searchMs
      const hasTime = (): boolean => performance.now() < endsAt
      const page = { limit: 51, hasTime, ...filter }
      const { searchedTo } = await callSearch.search(store.slowCallReads, organizationId, page)
      return searchedTo === undefined ? undefined : timeOfId(searchedTo)
    }
  return {
    newest: list({}),
    'older page': list({ before: idBound('req', now - 20 * dayMs) }),
    'a key': list({ keyId: keyOf(7) }),
    'a target': list({ targetId: targetOf(3) }),
    'a key at a target': list({ keyId: keyOf(7), targetId: targetOf(3) }),
    'status 403': list({ statuses: [403, 404] }),
    'status 5xx (1 in 1,000)': list({ statuses: [500, 600] }),
    'a check': list({ stoppedAt: 'limits' }),
    'a method': list({ method: 'DELETE' }),
    'a path (common)': list({ path: '/api/v1/intercept/t3/' }),
    'words of a path (none)': list({ words: { text: 'nowhere', keyIds: [] } }),
    refused: list({ outcome: 'refused' }),
    'upstream errors': list({ outcome: 'upstream_error' }),
    'an address': list({ address: addressOf(3) }),
    'an address and 5xx': list({ address: addressOf(3), statuses: [500, 600] }),
    'a path (1 in 1,000,000)': list({ path: rare.path }),
    'an address (1 in 1,000,000)': list({ address: rare.address }),
    'a day, a week ago': list({ from: now - 8 * dayMs, to: now - 7 * dayMs }),
  }
}

/** The queries behind the charts and figures of the overview, the calls page, keys and targets. */
function charts(now: number): Record<string, Query> {
  const clock = { now: () => now, monotonic: () => performance.now() }
  const of = (store: Store) => createTraffic({ store, clock })
  const spans = {
    'an hour': [hourMs, minuteMs],
    'a day': [dayMs, 15 * minuteMs],
    '7 days': [7 * dayMs, 2 * hourMs],
    '30 days': [30 * dayMs, 8 * hourMs],
  } as const
  const chart =
    (
      span: keyof typeof spans,
      filter: Parameters<ReturnType<typeof of>['top']>[1] & { parts?: boolean } = {},
    ): Query =>
    async (store, organizationId) => {
      const [spanMs, stepMs] = spans[span]
      const to = Math.ceil(now / stepMs) * stepMs
      const input = { ...filter, from: to - spanMs, to, stepMs }
      return (await of(store).rollup(organizationId, input)).searchedBackTo
    }
  const top =
    (spanMs: number, filter: { keyId?: string } = {}): Query =>
    async (store, organizationId) =>
      (await of(store).top(organizationId, { ...filter, from: now - spanMs, to: now }, 5))
        .searchedBackTo
  const key = { keyId: keyOf(7), parts: true }
  const target = { targetId: targetOf(3), parts: true }
  return {
    ...Object.fromEntries(
      (Object.keys(spans) as (keyof typeof spans)[]).flatMap((span) => [
        [`chart of ${span}`, chart(span)],
        [`chart of ${span}, a key`, chart(span, key)],
        [`chart of ${span}, a target`, chart(span, target)],
      ]),
    ),
    'chart of 30 days, refused': chart('30 days', { outcome: 'refused' }),
    'chart of 30 days, a check': chart('30 days', { stoppedAt: 'limits' }),
    'chart of 30 days, 5xx': chart('30 days', { statuses: [500, 600] }),
    'chart of 30 days, a method': chart('30 days', { method: 'DELETE' }),
    'chart of 30 days, a path': chart('30 days', { path: '/api/v1/intercept/t3/' }),
    'chart of 30 days, words': chart('30 days', { words: { text: 'nowhere', keyIds: [] } }),
    'chart of 30 days, an address': chart('30 days', { address: addressOf(3) }),
    'chart of 30 days, key and target': chart('30 days', {
      keyId: keyOf(7),
      targetId: targetOf(3),
    }),
    'top of a day': top(dayMs),
    'top of 30 days': top(30 * dayMs),
    'top of 30 days, a key': top(30 * dayMs, { keyId: keyOf(7) }),
    'hours of all targets': async (store, organizationId) =>
      void (await of(store).hoursOfTargets(organizationId)),
    'figures of all targets': async (store, organizationId) =>
      void (await of(store).ofTargets(organizationId)),
  }
}

interface Size {
  readonly total: number
  readonly keys: number
  readonly targets: number
}

async function measure(engine: Engine, size: Size): Promise<boolean> {
  const clock = steadyClock()
  await using place = await storeForTests(engine, clock)
  const { store } = place
  const organizationId = createId('org')
  const now = clock.now()
  const startedAt = performance.now()
  const { databaseUrl } = place
  await seed(store, { organizationId, now, databaseUrl, ...size })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  const { total, keys, targets } = size
  console.log(
    `\ncalls on ${engine}: ${total} records of ${keys} keys at ${targets} targets over ${days} days (seeded in ${seconds} s)`,
  )
  let isMet = true
  for (const [name, query] of Object.entries({ ...lists(now), ...charts(now) })) {
    const times: number[] = []
    let searchedTo: number | undefined
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      searchedTo = await query(store, organizationId)
      times.push(performance.now() - begin)
    }
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.ceil(rounds * share) - 1] ?? 0
    const p95 = at(0.95)
    isMet &&= p95 <= maxP95Ms
    console.log(
      `  ${name.padEnd(34)}p50${ms(at(0.5))}  p95${ms(p95)}  (bar: ${maxP95Ms}: ${p95 <= maxP95Ms ? 'met' : 'MISSED'})${coverage(now, searchedTo)}`,
    )
  }
  return (await measureRetention(store, { now, organizationId })) && isMet
}

const ms = (time: number): string => `${time.toFixed(1).padStart(9)} ms`

function coverage(now: number, searchedTo: number | undefined): string {
  if (searchedTo === undefined) return ''
  return `, tells of the last ${((now - searchedTo) / dayMs).toFixed(1)} days and says so`
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    keys: { type: 'string', default: '199' },
    targets: { type: 'string', default: '20' },
  },
})
const size: Size = {
  total: Number(positionals.find((word) => /^\d+$/.test(word)) ?? 200_000),
  keys: Number(values.keys),
  targets: Number(values.targets),
}
const named = engines.filter((engine) => positionals.includes(engine))
let isMet = true
for (const engine of named.length > 0 ? named : engines) {
  isMet = (await measure(engine, size)) && isMet
}
process.exit(isMet ? 0 : 1)
