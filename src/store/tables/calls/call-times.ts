import { sql, type RawBuilder } from 'kysely'
import { idBound, type OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import { callsThat, type CallFilter } from './call-filter.ts'
import { stepOf, type SumRange } from './traffic.ts'

/** Of a sample, this many records are looked at in all, and no more steps than these. */
const maxSampled = 10_000
const maxSampledSteps = 120

/** Which calls are timed, over which steps, and which parts of them. */
export type TimedRange = CallFilter &
  Pick<SumRange, 'from' | 'to' | 'stepMs'> & { readonly parts: readonly TimedPart[] }

/** The latency, in microseconds, that a share of the calls did not exceed. */
export interface Percentiles {
  readonly part: TimedPart
  /** The step; -1 for all steps together. */
  readonly step: number
  /** Of how many records. */
  readonly calls: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** What is timed: all of a call, the upstream's part, or ours. */
export type TimedPart = 'all' | 'upstream' | 'own'

const parts: Readonly<Record<TimedPart, RawBuilder<number>>> = {
  all: sql`duration_us`,
  upstream: sql`upstream_us`,
  own: sql`duration_us - coalesce(upstream_us, 0)`,
}
const times = sql.raw('duration_us, upstream_us')

/** Percentiles of each step and of all of them; every call is looked at. */
export async function percentiles(
  db: Db,
  organizationId: OrganizationId,
  range: TimedRange,
): Promise<readonly Percentiles[]> {
  const step = stepOf(sql.ref('at'), range)
  const timed = sql`select ${step} as step, ${times} from ${source(db, range)}
    where ${callsThat(db, organizationId, range)}`
  return await ranked(db, timed, range)
}

/** The same of a sample: the newest records of each step, however many there are. Steps beyond 120 are left out. */
export async function sampledPercentiles(
  db: Db,
  organizationId: OrganizationId,
  range: TimedRange,
): Promise<readonly Percentiles[]> {
  return await ranked(db, sampleOf(db, organizationId, range), range)
}

async function ranked(
  db: Db,
  timed: RawBuilder<unknown>,
  range: TimedRange,
): Promise<readonly Percentiles[]> {
  const each = range.parts.flatMap((part) =>
    [sql`step`, sql`-1`].map(
      (step) =>
        sql`select ${sql.lit(part)} as part, ${step} as step, ${parts[part]} as us from timed`,
    ),
  )
  const { rows } = await sql<Percentiles>`
    with timed as (${timed}),
    ranked as (
      select part, step, us, row_number() over (partition by part, step order by us) as place,
        count(*) over (partition by part, step) as calls
      from (${sql.join(each, sql` union all `)}) as every_step
      where us is not null
    )
    select part, step, calls, ${placed(50)} as p50, ${placed(95)} as p95, ${placed(99)} as p99
    from ranked group by part, step, calls order by part, step`.execute(db.query)
  return rows
}

/** The calls, of a key by their index: SQLite would look at those of all keys. */
function source(db: Db, { keyId }: CallFilter): RawBuilder<unknown> {
  return sql.raw(
    db.engine === 'sqlite' && keyId !== undefined ? 'call indexed by call_key' : 'call',
  )
}

/** What calls can be filtered and timed by. */
const seen = sql.raw(
  'organization_id, id, at, key_id, target_id, method, path, status, stopped_at, address, duration_us, upstream_us',
)

/** The newest records of each step, a walk along the order of ids for each; of those the calls that the filter finds. */
function sampleOf(db: Db, organizationId: OrganizationId, range: TimedRange): RawBuilder<unknown> {
  const { from, to, stepMs, keyId, ...filter } = range
  const steps = Math.min(maxSampledSteps, Math.ceil((to - from) / stepMs))
  const limit = Math.floor(maxSampled / steps)
  const ofKey = keyId === undefined ? sql`` : sql` and key_id = ${keyId}`
  const each = Array.from({ length: steps }, (_, index) => {
    const start = from + index * stepMs
    const end = Math.min(to, start + stepMs)
    return sql`select * from (select ${sql.lit(index)} as step, ${seen} from ${source(db, range)}
      where organization_id = ${organizationId}${ofKey}
        and id >= ${idBound('req', start)} and id < ${idBound('req', end)}
      order by id desc limit ${sql.lit(limit)}) as newest`
  })
  return sql`select step, ${times} from (${sql.join(each, sql` union all `)}) as newest_of_steps
    where ${callsThat(db, organizationId, filter)}`
}

/** The value at the rank of a share, by nearest rank: the smallest that this share of all does not exceed. */
function placed(share: number): RawBuilder<number> {
  return sql`max(case when place <= (calls * ${sql.lit(share)} + 99) / 100 then us end)`
}
