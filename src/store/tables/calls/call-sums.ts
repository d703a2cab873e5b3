import { sql, type RawBuilder } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import { callsThat, outcomes, type CallFilter } from './call-filter.ts'
import { stepOf, type SumRange, type TrafficSums } from './traffic.ts'

/** Above this many calls, percentiles come from a sample: the newest calls of each step. */
const maxForPercentiles = 20_000
const sampledInStep = 200
const maxSampledSteps = 120

/** The calls to sum, and the time steps to group them by. */
export type CallRange = CallFilter & Pick<SumRange, 'from' | 'to' | 'stepMs'>

/** Sums an organization's calls that match a filter, by time step and by the check that stopped them. */
export async function sum(
  db: Db,
  organizationId: OrganizationId,
  range: CallRange,
): Promise<TrafficSums> {
  const rows = await db.query
    .selectFrom('call')
    .select([
      stepOf(sql.ref('at'), range).as('step'),
      sql<string>`coalesce(stopped_at, '')`.as('check'),
      sql<number>`count(*)`.as('calls'),
      sql<number>`count(case when status >= 500 then 1 end)`.as('errors'),
    ])
    .where(callsThat(db, organizationId, range))
    .groupBy(['step', 'check'])
    .execute()
  return { rows }
}

/** Latency percentiles in microseconds. */
export interface Percentiles {
  /** The step's number; -1 for all steps together. */
  readonly step: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Which time is measured: the whole call's, the upstream's or our own. */
export type TimedPart = 'all' | 'upstream' | 'own'

const parts: Readonly<Record<TimedPart, RawBuilder<number>>> = {
  all: sql`duration_us`,
  upstream: sql`upstream_us`,
  own: sql`duration_us - coalesce(upstream_us, 0)`,
}

/**
 * Percentiles of each step and of all steps together. Beyond 20,000 calls, only the newest 200 of each step are
 * examined and steps after the 120th are left out, which keeps the work bounded.
 */
export async function percentiles(
  db: Db,
  organizationId: OrganizationId,
  range: CallRange & { readonly count: number; readonly part: TimedPart },
): Promise<{ readonly steps: readonly Percentiles[]; readonly sampled: boolean }> {
  const sampled = range.count > maxForPercentiles
  const timed = sampled
    ? sampleOf(db, organizationId, range)
    : timedCalls(range, callsThat(db, organizationId, range))
  const { rows } = await sql<Percentiles>`
    with timed as (${timed}),
    ranked as (
      select step, us, row_number() over (partition by step order by us) as place,
        count(*) over (partition by step) as calls
      from (select step, us from timed union all select -1 as step, us from timed) as every_step
      where us is not null
    )
    select step, ${placed(50)} as p50, ${placed(95)} as p95, ${placed(99)} as p99
    from ranked group by step, calls order by step`.execute(db.query)
  return { steps: rows, sampled }
}

function timedCalls(
  range: CallRange & { readonly part: TimedPart },
  where: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const step = stepOf(sql.ref('at'), range)
  return sql`select ${step} as step, ${parts[range.part]} as us from call where ${where}`
}

/** Selects the newest calls of each step, with one short scan per step along the ids, which follow the time. */
function sampleOf(
  db: Db,
  organizationId: OrganizationId,
  range: CallRange & { readonly part: TimedPart },
): RawBuilder<unknown> {
  const { from, to, stepMs } = range
  const steps = Math.min(maxSampledSteps, Math.ceil((to - from) / stepMs))
  const each = Array.from({ length: steps }, (_, index) => {
    const start = from + index * stepMs
    const part = { ...range, from: start, to: Math.min(to, start + stepMs) }
    const where = callsThat(db, organizationId, part)
    return sql`select step, us from (select ${sql.lit(index)} as step, ${parts[range.part]} as us
      from call where ${where} order by id desc limit ${sql.lit(sampledInStep)}) as newest`
  })
  return sql.join(each, sql` union all `)
}

/** The nearest-rank percentile: the smallest value that at least this share of all values does not exceed. */
function placed(share: number): RawBuilder<number> {
  return sql`max(case when place <= (calls * ${sql.lit(share)} + 99) / 100 then us end)`
}

/** One group of calls: by key, by target or by outcome. */
export interface TopRow {
  readonly id: string
  readonly calls: number
  readonly refused: number
  readonly errors: number
}

/** The keys or targets with the most calls, or the codes with the most refusals and failures. */
export async function top(
  db: Db,
  organizationId: OrganizationId,
  filter: CallFilter & { readonly by: 'key' | 'target' | 'code'; readonly limit: number },
): Promise<TopRow[]> {
  const { by, limit } = filter
  const id = {
    key: sql<string>`coalesce(key_id, '')`,
    target: sql<string>`target_id`,
    code: sql<string>`coalesce(refusal, cast(status as text))`,
  }[by]
  let query = db.query
    .selectFrom('call')
    .select([
      id.as('what'),
      sql<number>`count(*)`.as('calls'),
      sql<number>`count(case when ${outcomes.refused} then 1 end)`.as('refused'),
      sql<number>`count(case when ${outcomes.upstream_error} then 1 end)`.as('errors'),
    ])
    .where(callsThat(db, organizationId, filter))
    .groupBy('what')
    .orderBy('calls', 'desc')
    .orderBy('what')
    .limit(limit)
  if (by === 'target') query = query.where('target_id', 'is not', null)
  if (by === 'code') query = query.where((eb) => eb.or([outcomes.refused, outcomes.upstream_error]))
  return (await query.execute()).map(({ what, ...counts }) => ({ id: what, ...counts }))
}
