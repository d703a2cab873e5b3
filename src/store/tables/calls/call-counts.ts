import { CompiledQuery, sql, type RawBuilder, type SqlBool } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import { dayMs } from '../../../units.ts'
import { limitLocks } from '../../db/brief-locks.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { CallFilter, CallOutcome } from './record/call-filter.ts'
import { addAllText, type CountRows } from './count-rows.ts'
import { latencyColumns } from './latency-buckets.ts'
import { nextOrganizationIn } from './next-organization.ts'
import { stepOf, sumOf, type SumRange } from './traffic.ts'

interface Counted {
  organization_id: string
  /** '' for the organization, or the id of a key or target. */
  subject: string
  /** '' for calls without a refusal. */
  stopped_at: string
  refusal: string
  status: number
  calls: number
}

/** The table also has the columns l0 to l31, which count the calls by latency bucket. */
export interface CallQuarterTable extends Counted {
  quarter: number
}

export interface CallDayTable extends Counted {
  day: number
}

/** Adds the counts to the rows in the database; rows that are missing are inserted. */
export async function add(tx: Pick<Tx, 'query' | 'engine'>, counts: readonly CountRows[]) {
  // All nodes count calls in the same rows.
  await limitLocks(tx)
  for (const { table, json } of counts) {
    await tx.query.executeQuery(CompiledQuery.raw(addAllText(tx.engine, table), [json]))
  }
}

export interface CallCountedTable {
  since: number
}

/**
 * The time, in milliseconds since 1970, from which the counts per quarter of an hour and per day are complete. Earlier
 * calls may be missing from them.
 */
export async function countedSince(db: Db): Promise<number> {
  const row = await db.query.selectFrom('call_counted').select('since').executeTakeFirst()
  return row?.since ?? 0
}

/** The filter conditions that the stored counts support, besides the key and the target. */
export type CountFilter = Pick<CallFilter, 'stoppedAt' | 'outcome' | 'statuses'>

/** The subject, steps and conditions of a sum; all times are whole quarters of an hour. */
export type CountRange = CountFilter &
  Pick<SumRange, 'from' | 'to' | 'stepMs'> & { readonly subject: string }

/** The calls of one step that stopped at the same check; `check` is '' for calls without a refusal. */
export interface CountedStep {
  readonly step: number
  readonly check: string
  readonly calls: number
  /** How many of the calls had a status of 500 or above. */
  readonly errors: number
  /** How many of the calls fell into each latency bucket. */
  readonly latency: readonly number[]
}

/** Sums the calls of an organization, a key or a target by step and check; empty groups are left out. */
export async function sumSteps(
  db: Db,
  organizationId: OrganizationId,
  range: CountRange,
): Promise<CountedStep[]> {
  const latency = latencyColumns.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`)
  type Row = Omit<CountedStep, 'latency'> & Record<string, number>
  const { rows } = await sql<Row>`select ${stepOf(sql.ref('quarter'), range)} as step,
      stopped_at as "check", ${sumOf(sql`calls`)} as calls,
      ${sumOf(sql`case when status >= 500 then calls else 0 end`)} as errors, ${sql.join(latency)}
    from call_quarter
    where ${inQuarters(organizationId, range)} and ${countsWhere(range)}
    group by 1, 2`.execute(db.query)
  return rows.map(({ step, check, calls, errors, ...rest }) => {
    return { step, check, calls, errors, latency: latencyColumns.map((name) => rest[name] ?? 0) }
  })
}

/** Counts all calls of an organization, a key or a target in a span of time. */
export async function countAll(
  db: Db,
  organizationId: OrganizationId,
  range: Pick<CountRange, 'subject' | 'from' | 'to'>,
): Promise<number> {
  const { rows } = await sql<{ calls: number }>`
    select coalesce(${sumOf(sql`calls`)}, 0) as calls from call_quarter
    where ${inQuarters(organizationId, range)}`.execute(db.query)
  return rows[0]?.calls ?? 0
}

/** A key, a target, or a refusal code or status, with the number of its calls. */
export interface TopRow {
  readonly id: string
  readonly calls: number
  readonly refused: number
  readonly errors: number
}

/** A span of whole quarters of an hour. */
type Span = Pick<SumRange, 'from' | 'to'>

/** Lists the keys or targets with the most calls, or the codes with the most refused and failed calls. */
export async function top(
  db: Db,
  organizationId: OrganizationId,
  filter: CountFilter & Span & { readonly by: 'key' | 'target' | 'code'; readonly limit: number },
): Promise<TopRow[]> {
  const { by, limit } = filter
  const id = by === 'code' ? sql`coalesce(nullif(refusal, ''), cast(status as text))` : sql`subject`
  const source =
    by === 'code'
      ? sql`select * from call_quarter where ${inQuarters(organizationId, { ...filter, subject: '' })}`
      : bySubject(organizationId, filter, by)
  const failed = sql`(${outcomes.refused} or ${outcomes.upstream_error})`
  const { rows } = await sql<TopRow>`select ${id} as id, ${sumOf(sql`calls`)} as calls,
      ${sumOf(sql`case when ${outcomes.refused} then calls else 0 end`)} as refused,
      ${sumOf(sql`case when ${outcomes.upstream_error} then calls else 0 end`)} as errors
    from (${source}) as counted
    where ${countsWhere(filter)}${by === 'code' ? sql` and ${failed}` : sql``}
    group by 1 order by 2 desc, 1 limit ${limit}`.execute(db.query)
  return rows
}

export interface TargetStep {
  readonly targetId: string
  readonly step: number
  readonly calls: number
  /** Refused by us, or failed at the upstream. */
  readonly failed: number
  /** Refused by us, for example because the upstream did not respond. */
  readonly refused: number
}

export async function sumTargets(
  db: Db,
  organizationId: OrganizationId,
  range: Pick<SumRange, 'from' | 'to' | 'stepMs'>,
): Promise<TargetStep[]> {
  const { rows } = await sql<TargetStep>`select subject as "targetId",
      ${stepOf(sql.ref('quarter'), range)} as step, ${sumOf(sql`calls`)} as calls,
      ${sumOf(sql`case when stopped_at <> '' or status >= 500 then calls else 0 end`)} as failed,
      ${sumOf(sql`case when stopped_at <> '' then calls else 0 end`)} as refused
    from (${quartersOf(organizationId, range, 'target')}) as counted
    group by 1, 2`.execute(db.query)
  return rows
}

/**
 * Deletes an organization's counts of days before the given one, for up to `limit` pairs of a day and a subject;
 * returns the number of those pairs.
 */
export async function forget(
  tx: Tx,
  {
    organizationId,
    beforeDay,
    limit,
  }: {
    readonly organizationId: OrganizationId
    readonly beforeDay: number
    readonly limit: number
  },
): Promise<number> {
  const old = await tx.query
    .selectFrom('call_day')
    .select(['day', 'subject'])
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('day', '<', beforeDay)
    .orderBy('day')
    .orderBy('subject')
    .limit(limit)
    .execute()
  for (const { day, subject } of old) {
    const span = { subject, from: day, to: day + dayMs }
    await sql`delete from call_quarter where ${inQuarters(organizationId, span)}`.execute(tx.query)
    await sql`delete from call_day where organization_id = ${organizationId}
      and day = ${day} and subject = ${subject}`.execute(tx.query)
  }
  return old.length
}

/** The next organization with counts, in id order; undefined after the last one. */
export async function nextOrganization(db: Db, after: string): Promise<OrganizationId | undefined> {
  return await nextOrganizationIn(db, 'call_day', after)
}

function inQuarters(
  organizationId: OrganizationId,
  { subject, from, to }: Pick<CountRange, 'subject' | 'from' | 'to'>,
): RawBuilder<SqlBool> {
  return sql<SqlBool>`organization_id = ${organizationId} and subject = ${subject}
    and quarter >= ${sql.lit(from)} and quarter < ${sql.lit(to)}`
}

/** Conditions on counts for each outcome; '' stands for no check. */
const outcomes: Readonly<Record<CallOutcome, RawBuilder<SqlBool>>> = {
  answered: sql<SqlBool>`(stopped_at = '' and status < 500)`,
  upstream_error: sql<SqlBool>`(stopped_at = 'forward' or (stopped_at = '' and status >= 500))`,
  refused: sql<SqlBool>`stopped_at not in ('', 'forward')`,
}

function countsWhere({ stoppedAt, outcome, statuses }: CountFilter): RawBuilder<SqlBool> {
  const all: RawBuilder<unknown>[] = [sql`true`]
  if (stoppedAt !== undefined) all.push(sql`stopped_at = ${stoppedAt}`)
  if (outcome !== undefined) all.push(outcomes[outcome])
  if (statuses !== undefined) all.push(sql`status >= ${statuses[0]} and status < ${statuses[1]}`)
  return sql<SqlBool>`${sql.join(all, sql` and `)}`
}

const columns = sql`subject, stopped_at, refusal, status, calls`

/**
 * The counts of all keys or targets: whole days are read from the daily counts, the two ends from the quarter-hour
 * counts.
 */
function bySubject(
  organizationId: OrganizationId,
  { from, to }: Span,
  kind: 'key' | 'target',
): RawBuilder<unknown> {
  const [first, end] = [Math.ceil(from / dayMs) * dayMs, Math.floor(to / dayMs) * dayMs]
  if (first >= end) return quartersOf(organizationId, { from, to }, kind)
  const days = sql`select ${columns} from call_day where organization_id = ${organizationId}
    and day >= ${sql.lit(first)} and day < ${sql.lit(end)} and ${subjectIsA(kind)}`
  const ends = [
    { from, to: first },
    { from: end, to },
  ].filter((span) => span.from < span.to)
  const parts = ends.map(
    (span) => sql`select ${columns} from (${quartersOf(organizationId, span, kind)}) as ends`,
  )
  return sql.join([days, ...parts], sql` union all `)
}

/** The quarter-hour counts in a span, of each key or target with calls on the span's days: one index range each. */
function quartersOf(
  organizationId: OrganizationId,
  { from, to }: Span,
  kind: 'key' | 'target',
): RawBuilder<unknown> {
  return sql`select counts.* from (
      select distinct subject as id from call_day where organization_id = ${organizationId}
        and day >= ${sql.lit(from - (from % dayMs))} and day < ${sql.lit(to)} and ${subjectIsA(kind)}
    ) as subjects cross join call_quarter as counts
    where counts.organization_id = ${organizationId} and counts.subject = subjects.id
      and counts.quarter >= ${sql.lit(from)} and counts.quarter < ${sql.lit(to)}`
}

/** Ids begin with their kind and "_", and "`" is the character after "_", so this is an index range. */
function subjectIsA(kind: 'key' | 'target'): RawBuilder<SqlBool> {
  const prefix = kind === 'key' ? 'key' : 'tgt'
  return sql<SqlBool>`subject >= ${sql.lit(`${prefix}_`)} and subject < ${sql.lit(`${prefix}\``)}`
}
