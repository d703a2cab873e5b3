// Millions of call records, made by the database itself; the counts of the same calls are made as the product makes them.
import { sql } from 'kysely'
import pg from 'pg'
import type { KeyId, OrganizationId, TargetId } from '../src/ids.ts'
import {
  callPartitions,
  countRows,
  latencyBuckets,
  latencyBucketOf,
  noCallRows,
  type CountRows,
  type Store,
} from '../src/store/index.ts'

export const days = 30
const dayMs = 86_400_000
const rowsInStatement = 100_000
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Which calls are seeded: `total` over 30 days up to `now`. */
export interface Seed {
  readonly organizationId: OrganizationId
  readonly total: number
  readonly now: number
  readonly keys: number
  readonly targets: number
  /** Of PostgreSQL. */
  readonly databaseUrl: string | undefined
}

/** What few calls have. */
export const rare = {
  address: '198.51.100.7',
  path: '/api/v1/intercept/rare/path',
  every: 1_000_000,
}
const addresses = 503

export const keyOf = (at: number): KeyId => `key_${String(at).padStart(26, '0')}`
export const targetOf = (at: number): TargetId => `tgt_${String(at).padStart(26, '0')}`
export const addressOf = (at: number): string => `192.0.2.${at}`

/** Writes records and counts; PostgreSQL's statistics are brought up to date, as it would do by itself before long. */
export async function seed(store: Store, wish: Seed): Promise<void> {
  if (store.engine === 'postgres') {
    await makePartitions(store, wish.now)
    for (const name of Object.keys(indexes)) await run(wish, `drop index ${name}`)
  }
  const waiting = Array.from({ length: days }, (_, day) => day)
  const work = async (): Promise<void> => {
    for (let day = waiting.shift(); day !== undefined; day = waiting.shift()) {
      await seedDay(store, wish, day)
    }
  }
  // SQLite has one writer.
  await Promise.all(store.engine === 'postgres' ? [work(), work()] : [work()])
  if (store.engine === 'sqlite') return
  for (const [name, text] of Object.entries(indexes)) {
    await run(wish, `create index ${name} on call ${text}`)
  }
  await run(wish, 'vacuum analyze')
}

// Made at the end, which takes a fraction of the time; as the migrations make them.
const indexes = {
  call_key: '(organization_id, key_id, id)',
  call_address: '(organization_id, address, id)',
  call_failed: '(organization_id, id) where status >= 500',
}

/** Over a connection of its own: the product gives no statement so much time. */
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

async function seedDay(store: Store, wish: Seed, day: number): Promise<void> {
  const perDay = Math.ceil(wish.total / days)
  const from = day * perDay
  const end = Math.min(wish.total, from + perDay)
  for (let row = from; row < end; row += rowsInStatement) {
    const until = Math.min(end, row + rowsInStatement)
    const text = insertion(store, wish, { from: row, until })
    if (store.engine === 'postgres') await run(wish, text)
    else await store.transactionOnCalls(async (tx) => void (await sql.raw(text).execute(tx.query)))
  }
  const counts = countsOfRows(wish, from, end)
  for (let at = 0; at < counts.length; at += 50) {
    await store.insertCalls(noCallRows, counts.slice(at, at + 50))
  }
}

const startOf = ({ now }: Seed): number => now - days * dayMs

/** Microseconds between two calls. */
const paceOf = ({ total }: Seed): number => Math.floor((days * dayMs * 1000) / total)

/** The same counts as the product makes of these rows: there are too many to make a record of each. */
function countsOfRows(wish: Seed, from: number, end: number): CountRows[] {
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
    ...Array.from({ length: wish.keys }, (_, at) => keyOf(at)),
    ...Array.from({ length: wish.targets }, (_, at) => targetOf(at)),
  ]
  const id = wish.organizationId
  // The cells of the present minute, quarter and day by subject and ending: rows come in the order of time.
  let [minute, quarter, day] = [-1, -1, -1]
  let minutes: (Float64Array | undefined)[] = []
  let quarters: (Float64Array | undefined)[] = []
  let daysOf: (Float64Array | undefined)[] = []
  for (let row = from; row < end; row++) {
    const at = startOf(wish) + Math.floor((row * paceOf(wish)) / 1000)
    if (at - (at % 60_000) !== minute) [minute, minutes] = [at - (at % 60_000), []]
    if (at - (at % 900_000) !== quarter) [quarter, quarters] = [at - (at % 900_000), []]
    if (at - (at % dayMs) !== day) [day, daysOf] = [at - (at % dayMs), []]
    const ending = row % 11 === 0 ? (row % 2 === 0 ? 0 : 1) : row % 1000 === 7 ? 2 : 3
    const [stop, refusal, status] = endings[ending] ?? ['', '', 0]
    const target = row % wish.targets
    const m = (minutes[target * 4 + ending] ??= cell(
      'call_minute',
      `"${id}",${minute},"${targetOf(target)}","${stop}"`,
      5,
    ))
    const durationUs = durationOf(row)
    addTo(m, status >= 500 ? 1 : 0, durationUs)
    const bucket = 1 + latencyBucketOf(durationUs)
    for (const subject of [0, 1 + (row % wish.keys), 1 + wish.keys + target]) {
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

/** One more call of a minute. */
function addTo(sums: Float64Array, errors: number, durationUs: number): void {
  sums[0] = (sums[0] ?? 0) + 1
  sums[1] = (sums[1] ?? 0) + errors
  sums[2] = (sums[2] ?? 0) + 300
  sums[3] = (sums[3] ?? 0) + 2000
  sums[4] = (sums[4] ?? 0) + durationUs
}

/** From 1 to 91 ms, half of them below 24 ms. */
const durationOf = (row: number): number => 1000 + ((row * 7919) % 300) ** 2

function insertion(
  { engine }: Store,
  wish: Seed,
  { from, until }: { readonly from: number; readonly until: number },
) {
  const isPostgres = engine === 'postgres'
  const number = (expression: string, width: number): string =>
    isPostgres
      ? `lpad((${expression})::text, ${width}, '0')`
      : `printf('%0${width}d', ${expression})`
  const at = `${startOf(wish)} + (n * ${paceOf(wish)}) / 1000`
  const time = Array.from({ length: 10 }, (_, digit) => {
    return `substr('${alphabet}', (((at >> ${5 * (9 - digit)}) & 31) + 1)${isPostgres ? '::int' : ''}, 1)`
  }).join(' || ')
  const isRare = `n % ${rare.every} = 999`
  const values = {
    organization_id: `'${wish.organizationId}'`,
    id: `'req_' || ${time} || ${number('n', 16)}`,
    at: 'at',
    key_id: `'key_' || ${number(`n % ${wish.keys}`, 26)}`,
    target_id: `'tgt_' || ${number(`n % ${wish.targets}`, 26)}`,
    method: `case when n % 50 = 0 then 'DELETE' else 'GET' end`,
    path: `case when ${isRare} then '${rare.path}' else '/api/v1/intercept/t' || (n % ${wish.targets}) || '/things/' || (n % 997) end`,
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
  const series = isPostgres
    ? `select n, ${at} as at from generate_series(${from}::bigint, ${until - 1}) as n`
    : `with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${until - 1})
       select n, ${at} as at from numbers`
  return `insert into call (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')} from (${series}) as numbered`
}
