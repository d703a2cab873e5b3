import { sql, type RawBuilder } from 'kysely'
import { idBound, type OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import { percentilesOfBlocks, sampledPercentilesOfBlocks } from './blocks/block-times.ts'
import { callsThat } from './record/call-condition.ts'
import type { Percentiles, SampleSize, TimedPart, TimedRange } from './record/timed-range.ts'
import { stepOf } from './traffic.ts'

/** A sample reads at most this many records, spread over up to `maxSampledSteps` steps. */
const maxSampled = 10_000
/** The same limit for one key, whose records lie apart, so that each costs a read of its own. */
const maxSampledOfKey = 5000
const maxSampledSteps = 120

const parts: Readonly<Record<TimedPart, RawBuilder<number>>> = {
  all: sql`duration_us`,
  upstream: sql`upstream_us`,
  own: sql`duration_us - coalesce(upstream_us, 0)`,
}
const times = sql.raw('duration_us, upstream_us')

/** Exact percentiles of each step and of all steps together; reads every matching call. */
export async function percentiles(
  db: Db,
  organizationId: OrganizationId,
  range: TimedRange,
): Promise<readonly Percentiles[]> {
  if (db.engine === 'sqlite') return await percentilesOfBlocks(db, organizationId, range)
  const step = stepOf(sql.ref('at'), range)
  const timed = sql`select ${step} as step, ${times} from call
    where ${callsThat(db, organizationId, range)}`
  return await ranked(db, timed, range)
}

/** Percentiles of a bounded sample: the newest records of each of the first 120 steps. Later steps are left out. */
export async function sampledPercentiles(
  db: Db,
  organizationId: OrganizationId,
  range: TimedRange,
): Promise<readonly Percentiles[]> {
  const size = sampleSizeOf(range)
  if (db.engine === 'sqlite') {
    return await sampledPercentilesOfBlocks(db, organizationId, { range, size })
  }
  return await ranked(db, sampleOf(db, organizationId, { range, size }), range)
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
  // Every part reads the calls twice; without `materialized`, the database could look for them each time.
  const { rows } = await sql<Percentiles>`
    with timed as materialized (${timed}),
    ranked as (
      select part, step, us, row_number() over (partition by part, step order by us) as place,
        count(*) over (partition by part, step) as calls
      from (${sql.join(each, sql` union all `)}) as every_step
      where us is not null
    )
    select part, step, calls, ${percentile(50)} as p50, ${percentile(95)} as p95, ${percentile(99)} as p99
    from ranked group by part, step, calls order by part, step`.execute(db.query)
  return rows
}

function sampleSizeOf({ from, to, stepMs, keyId }: TimedRange): SampleSize {
  const steps = Math.min(maxSampledSteps, Math.ceil((to - from) / stepMs))
  return { steps, limit: Math.floor((keyId === undefined ? maxSampled : maxSampledOfKey) / steps) }
}

/** The columns that filters and percentiles use. */
const sampledColumns = sql.raw(
  'organization_id, id, at, key_id, target_id, method, path, status, stopped_at, address, duration_us, upstream_us',
)

/**
 * Takes the newest records of each step (of the filter's key, if it names one), with one index range per step. The
 * filter's other conditions are applied only to these records.
 */
function sampleOf(
  db: Db,
  organizationId: OrganizationId,
  { range, size: { steps, limit } }: { readonly range: TimedRange; readonly size: SampleSize },
): RawBuilder<unknown> {
  const { from, to, stepMs, keyId, ...filter } = range
  const ofKey = keyId === undefined ? sql`` : sql` and key_id = ${keyId}`
  const each = Array.from({ length: steps }, (_, index) => {
    const start = from + index * stepMs
    const end = Math.min(to, start + stepMs)
    return sql`select * from (select ${sql.lit(index)} as step, ${sampledColumns} from call
      where organization_id = ${organizationId}${ofKey}
        and id >= ${idBound('req', start)} and id < ${idBound('req', end)}
      order by id desc limit ${sql.lit(limit)}) as newest`
  })
  return sql`select step, ${times} from (${sql.join(each, sql` union all `)}) as newest_of_steps
    where ${callsThat(db, organizationId, filter)}`
}

/** A percentile by nearest rank: the smallest value that at least this share of the calls did not exceed. */
function percentile(share: number): RawBuilder<number> {
  return sql`max(case when place <= (calls * ${sql.lit(share)} + 99) / 100 then us end)`
}
