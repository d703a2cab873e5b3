// Seeds call records: PostgreSQL generates them itself; for SQLite, they are generated here and stored by the product's
// own code, as blocks. The counts of the same calls are computed here and stored by the product's own code.
import pg from 'pg'
import {
  idBound,
  type KeyId,
  type OrganizationId,
  type RequestId,
  type TargetId,
} from '../src/ids.ts'
import {
  callPartitions,
  calls,
  countRows,
  latencyBuckets,
  latencyBucketOf,
  noCallRows,
  type CallRecord,
  type CountRows,
  type Store,
} from '../src/store/index.ts'

export const days = 30
const dayMs = 86_400_000
const rowsInStatement = 100_000
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The calls to seed: `total` over the 30 days up to `now`. */
export interface Seed {
  readonly organizationId: OrganizationId
  readonly total: number
  readonly now: number
  readonly keys: number
  readonly targets: number
  /** Set on PostgreSQL only. */
  readonly databaseUrl: string | undefined
}

/** Filters for this address or this path match rarely: only one call in `every` has them. */
export const rare = {
  address: '198.51.100.7',
  path: '/api/v1/intercept/rare/path',
  every: 1_000_000,
}
const addresses = 503

export const keyOf = (at: number): KeyId => `key_${String(at).padStart(26, '0')}`
export const targetOf = (at: number): TargetId => `tgt_${String(at).padStart(26, '0')}`
export const addressOf = (at: number): string => `192.0.2.${at}`

/** Writes records and counts, then updates PostgreSQL's statistics, as autovacuum would soon do. */
export async function seed(store: Store, plan: Seed): Promise<void> {
  if (store.engine === 'postgres') {
    await makePartitions(store, plan.now)
    for (const name of Object.keys(indexes)) await run(plan, `drop index ${name}`)
  }
  const waiting = Array.from({ length: days }, (_, day) => day)
  const work = async (): Promise<void> => {
    for (let day = waiting.shift(); day !== undefined; day = waiting.shift()) {
      await seedDay(store, plan, day)
    }
  }
  // SQLite has one writer, so a second worker would only wait.
  await Promise.all(store.engine === 'postgres' ? [work(), work()] : [work()])
  if (store.engine === 'sqlite') return
  for (const [name, text] of Object.entries(indexes)) {
    await run(plan, `create index ${name} on call ${text}`)
  }
  await run(plan, 'vacuum analyze')
}

// The indexes are dropped before the seed and created again after it: updating them for each row would take longer.
const indexes = {
  call_key: '(organization_id, key_id, id)',
  call_address: '(organization_id, address, id)',
  call_failed: '(organization_id, id) where status >= 500',
}

/** Runs a statement on a connection of its own, because the product's statement timeout is too short for it. */
async function run({ databaseUrl }: Seed, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

async function makePartitions(store: Store, now: number): Promise<void> {
  for (let day = days + 1; day >= 0; day -= 7) {
    const at = now - day * dayMs
    await store.transactionOnCalls(
      async (tx) => await callPartitions.makePartitions({ ...tx, now: at }),
    )
  }
}

async function seedDay(store: Store, plan: Seed, day: number): Promise<void> {
  const perDay = Math.ceil(plan.total / days)
  const from = day * perDay
  const end = Math.min(plan.total, from + perDay)
  for (let row = from; row < end; row += rowsInStatement) {
    const until = Math.min(end, row + rowsInStatement)
    if (store.engine === 'postgres') await run(plan, insertion(plan, { from: row, until }))
    else await insertRecords(store, plan, { from: row, until })
  }
  const counts = countsOfRows(plan, from, end)
  for (let at = 0; at < counts.length; at += 50) {
    await store.insertCalls(noCallRows, counts.slice(at, at + 50))
  }
}

const startOf = ({ now }: Seed): number => now - days * dayMs

/** The interval between two calls, in microseconds. */
const paceOf = ({ total }: Seed): number => Math.floor((days * dayMs * 1000) / total)

/** The counts that the product would make of these rows, computed without a record object for each row. */
function countsOfRows(plan: Seed, from: number, end: number): CountRows[] {
  const tables = {
    call_minute: new Map<string, Float64Array>(),
    call_quarter: new Map<string, Float64Array>(),
    call_day: new Map<string, Float64Array>(),
  }
  const cell = (table: keyof typeof tables, key: string, width: number): Float64Array => {
    const known = tables[table].get(key) ?? new Float64Array(width)
    tables[table].set(key, known)
    return known
  }
  const subjects = [
    '',
    ...Array.from({ length: plan.keys }, (_, at) => keyOf(at)),
    ...Array.from({ length: plan.targets }, (_, at) => targetOf(at)),
  ]
  const id = plan.organizationId
  // Rows come in order of time, so it is enough to cache the cells of the current minute, quarter of an hour and day.
  let [minute, quarter, day] = [-1, -1, -1]
  let minutes: (Float64Array | undefined)[] = []
  let quarters: (Float64Array | undefined)[] = []
  let daysOf: (Float64Array | undefined)[] = []
  for (let row = from; row < end; row++) {
    const at = startOf(plan) + Math.floor((row * paceOf(plan)) / 1000)
    if (at - (at % 60_000) !== minute) [minute, minutes] = [at - (at % 60_000), []]
    if (at - (at % 900_000) !== quarter) [quarter, quarters] = [at - (at % 900_000), []]
    if (at - (at % dayMs) !== day) [day, daysOf] = [at - (at % dayMs), []]
    const ending = row % 11 === 0 ? (row % 2 === 0 ? 0 : 1) : row % 1000 === 7 ? 2 : 3
    const [stop, refusal, status] = endings[ending] ?? ['', '', 0]
    const target = row % plan.targets
    const m = (minutes[target * 4 + ending] ??= cell(
      'call_minute',
      `"${id}",${minute},"${targetOf(target)}","${stop}"`,
      5,
    ))
    const durationUs = durationOf(row)
    addTo(m, status >= 500 ? 1 : 0, durationUs)
    const bucket = 1 + latencyBucketOf(durationUs)
    for (const subject of [0, 1 + (row % plan.keys), 1 + plan.keys + target]) {
      const name = subjects[subject] ?? ''
      const q = (quarters[subject * 4 + ending] ??= cell(
        'call_quarter',
        `"${id}","${name}",${quarter},"${stop}","${refusal}",${status}`,
        1 + latencyBuckets,
      ))
      q[0] = (q[0] ?? 0) + 1
      q[bucket] = (q[bucket] ?? 0) + 1
      const d = (daysOf[subject * 4 + ending] ??= cell(
        'call_day',
        `"${id}",${day},"${name}","${stop}","${refusal}",${status}`,
        1,
      ))
      d[0] = (d[0] ?? 0) + 1
    }
  }
  return (['call_minute', 'call_quarter', 'call_day'] as const).flatMap((table) =>
    countRows(table, tables[table]),
  )
}

const endings = [
  ['rules', 'rule_denied', 403],
  ['limits', 'rule_denied', 403],
  ['', '', 502],
  ['', '', 200],
] as const

function addTo(sums: Float64Array, errors: number, durationUs: number): void {
  sums[0] = (sums[0] ?? 0) + 1
  sums[1] = (sums[1] ?? 0) + errors
  sums[2] = (sums[2] ?? 0) + 300
  sums[3] = (sums[3] ?? 0) + 2000
  sums[4] = (sums[4] ?? 0) + durationUs
}

/** Durations in microseconds: from 1 ms to 90.4 ms, half of them below 24 ms. */
const durationOf = (row: number): number => 1000 + ((row * 7919) % 300) ** 2

/** Inserts records with the same values that `insertion` generates. */
async function insertRecords(
  store: Store,
  plan: Seed,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<void> {
  const records: CallRecord[] = []
  for (let n = from; n < until; n++) records.push(recordOf(plan, n))
  await store.transactionOnCalls(async (tx) => await calls.insert(tx, records))
}

function recordOf(plan: Seed, n: number): CallRecord {
  const at = startOf(plan) + Math.floor((n * paceOf(plan)) / 1000)
  const isRare = n % rare.every === 999
  const isRefused = n % 11 === 0
  const target = n % plan.targets
  return {
    id: `${idBound('req', at)}${String(n).padStart(16, '0')}` as RequestId,
    at,
    organizationId: plan.organizationId,
    keyId: keyOf(n % plan.keys),
    targetId: targetOf(target),
    method: n % 50 === 0 ? 'DELETE' : 'GET',
    path: isRare ? rare.path : `/api/v1/intercept/t${target}/things/${n % 997}`,
    status: isRefused ? 403 : n % 1000 === 7 ? 502 : 200,
    refusal: isRefused ? 'rule_denied' : undefined,
    stoppedAt: isRefused ? (n % 2 === 0 ? 'rules' : 'limits') : undefined,
    ruleId: undefined,
    trialRuleId: undefined,
    bytesIn: 300,
    bytesOut: 2000,
    durationUs: durationOf(n),
    upstreamUs: 900,
    address: isRare ? rare.address : addressOf(n % addresses),
    agent: 'bench/1',
    capture: undefined,
  }
}

/** The statement by which PostgreSQL generates and inserts records. */
function insertion(
  plan: Seed,
  { from, until }: { readonly from: number; readonly until: number },
): string {
  const number = (expression: string, width: number): string =>
    `lpad((${expression})::text, ${width}, '0')`
  const at = `${startOf(plan)} + (n * ${paceOf(plan)}) / 1000`
  const time = Array.from({ length: 10 }, (_, digit) => {
    return `substr('${alphabet}', (((at >> ${5 * (9 - digit)}) & 31) + 1)::int, 1)`
  }).join(' || ')
  const isRare = `n % ${rare.every} = 999`
  const values = {
    organization_id: `'${plan.organizationId}'`,
    id: `'req_' || ${time} || ${number('n', 16)}`,
    at: 'at',
    key_id: `'key_' || ${number(`n % ${plan.keys}`, 26)}`,
    target_id: `'tgt_' || ${number(`n % ${plan.targets}`, 26)}`,
    method: `case when n % 50 = 0 then 'DELETE' else 'GET' end`,
    path: `case when ${isRare} then '${rare.path}' else '/api/v1/intercept/t' || (n % ${plan.targets}) || '/things/' || (n % 997) end`,
    status: `case when n % 11 = 0 then 403 when n % 1000 = 7 then 502 else 200 end`,
    refusal: `case when n % 11 = 0 then 'rule_denied' end`,
    stopped_at: `case when n % 11 = 0 then case when n % 2 = 0 then 'rules' else 'limits' end end`,
    bytes_in: '300',
    bytes_out: '2000',
    duration_us: `1000 + ((n * 7919) % 300) * ((n * 7919) % 300)`,
    upstream_us: '900',
    address: `case when ${isRare} then '${rare.address}' else '192.0.2.' || (n % ${addresses}) end`,
    agent: `'bench/1'`,
  }
  const series = `select n, ${at} as at from generate_series(${from}::bigint, ${until - 1}) as n`
  return `insert into call (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')} from (${series}) as numbered`
}
