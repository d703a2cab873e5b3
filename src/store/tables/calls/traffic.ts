import { sql, type Expression, type RawBuilder } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

const claimsInStatement = 256

export interface CallMinuteTable {
  organization_id: string
  minute: number
  target_id: string
  stopped_at: string
  calls: number
  errors: number
  bytes_in: number
  bytes_out: number
  duration_us: number
}

export interface QuotaUseTable {
  organization_id: string
  subject_id: string
  period_at: number
  calls: number
  claimed: number
  granted: number
}

export interface RuleDayTable {
  organization_id: string
  rule_id: string
  day_at: number
  decided: number
  would_refuse: number
}

/** The calls in one minute, by target and check. */
export interface MinuteCounts {
  readonly organizationId: OrganizationId
  /** The start of the minute in milliseconds since 1970. */
  readonly minute: number
  /** Empty when no target was found. */
  readonly targetId: string
  /** The check that refused the calls; empty for forwarded ones. */
  readonly stoppedAt: string
  readonly calls: number
  /** Responses with a 5xx status. */
  readonly errors: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly durationUs: number
}

function minuteName(counts: MinuteCounts): string {
  return `${counts.organizationId} ${counts.minute} ${counts.targetId} ${counts.stoppedAt}`
}

/** Adds counts to their minutes. */
export async function addMinutes(tx: Tx, minutes: readonly MinuteCounts[]): Promise<void> {
  // All nodes use the same order, so they can't deadlock on each other's rows.
  for (const counts of minutes.toSorted((a, b) => (minuteName(a) < minuteName(b) ? -1 : 1))) {
    await tx.query
      .insertInto('call_minute')
      .values({
        organization_id: counts.organizationId,
        minute: counts.minute,
        target_id: counts.targetId,
        stopped_at: counts.stoppedAt,
        calls: counts.calls,
        errors: counts.errors,
        bytes_in: counts.bytesIn,
        bytes_out: counts.bytesOut,
        duration_us: counts.durationUs,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['organization_id', 'minute', 'target_id', 'stopped_at'])
          .doUpdateSet((eb) => ({
            calls: eb('call_minute.calls', '+', eb.ref('excluded.calls')),
            errors: eb('call_minute.errors', '+', eb.ref('excluded.errors')),
            bytes_in: eb('call_minute.bytes_in', '+', eb.ref('excluded.bytes_in')),
            bytes_out: eb('call_minute.bytes_out', '+', eb.ref('excluded.bytes_out')),
            duration_us: eb('call_minute.duration_us', '+', eb.ref('excluded.duration_us')),
          })),
      )
      .execute()
  }
}

/** The range to sum; times are whole milliseconds since 1970. */
export interface SumRange {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  readonly targetId?: string | undefined
  /** Only calls stopped by this check. */
  readonly check?: string | undefined
}

/** Calls by time step (counted from 0) and by the check that stopped them; empty groups are left out. */
export interface TrafficSums {
  readonly rows: readonly {
    readonly step: number
    /** Empty for calls that were forwarded completely. */
    readonly check: string
    readonly calls: number
    /** Calls with a status of 500 or above. */
    readonly errors: number
  }[]
}

/** Sums an organization's calls in the database, because there may be a row for each minute, target and check. */
export async function sum(
  db: Db,
  organizationId: OrganizationId,
  range: SumRange,
): Promise<TrafficSums> {
  let query = db.query
    .selectFrom('call_minute')
    .where('organization_id', '=', organizationId)
    .where('minute', '>=', range.from)
    .where('minute', '<', range.to)
  if (range.targetId !== undefined) query = query.where('target_id', '=', range.targetId)
  if (range.check !== undefined) query = query.where('stopped_at', '=', range.check)
  const rows = await query
    .select([
      stepOf(sql.ref('minute'), range).as('step'),
      'stopped_at as check',
      sumOf(sql.ref('calls')).as('calls'),
      sumOf(sql.ref('errors')).as('errors'),
    ])
    .groupBy(['step', 'stopped_at'])
    .execute()
  return { rows }
}

/**
 * Sums an organization's calls by target since a given time, and the upstream's responses and errors since a later one.
 */
export async function sumByTarget(
  db: Db,
  organizationId: OrganizationId,
  since: { readonly from: number; readonly recentFrom: number },
): Promise<
  {
    readonly targetId: string
    readonly calls: number
    readonly refused: number
    readonly recentCalls: number
    readonly recentErrors: number
  }[]
> {
  const isRecent = sql`minute >= ${sql.lit(since.recentFrom)} and stopped_at in ('', 'forward')`
  return await db.query
    .selectFrom('call_minute')
    .select([
      'target_id as targetId',
      sumOf(sql.ref('calls')).as('calls'),
      sumOf(sql`case when stopped_at = '' then 0 else calls end`).as('refused'),
      sumOf(sql`case when ${isRecent} then calls else 0 end`).as('recentCalls'),
      sumOf(sql`case when ${isRecent} then errors else 0 end`).as('recentErrors'),
    ])
    .where('organization_id', '=', organizationId)
    .where('minute', '>=', since.from)
    .groupBy('target_id')
    .execute()
}

/** Counts an organization's calls by target and time step, and how many of them were refused or failed. */
export async function sumByTargetAndStep(
  db: Db,
  organizationId: OrganizationId,
  range: Pick<SumRange, 'from' | 'to' | 'stepMs'>,
): Promise<
  {
    readonly targetId: string
    readonly step: number
    readonly calls: number
    readonly failed: number
  }[]
> {
  return await db.query
    .selectFrom('call_minute')
    .select([
      'target_id as targetId',
      stepOf(sql.ref('minute'), range).as('step'),
      sumOf(sql.ref('calls')).as('calls'),
      sumOf(sql`case when stopped_at = '' then errors else calls end`).as('failed'),
    ])
    .where('organization_id', '=', organizationId)
    .where('minute', '>=', range.from)
    .where('minute', '<', range.to)
    .groupBy(['target_id', 'step'])
    .execute()
}

/**
 * The number of the time step that contains a time. Numbers are inlined because SQLite would treat bound ones as
 * floating point.
 */
export function stepOf(
  time: Expression<unknown>,
  range: Pick<SumRange, 'from' | 'stepMs'>,
): RawBuilder<number> {
  return sql<number>`(${time} - ${sql.lit(range.from)}) / ${sql.lit(range.stepMs)}`
}

/** A sum as an integer: PostgreSQL's own would be a decimal. */
function sumOf(value: Expression<unknown>): RawBuilder<number> {
  return sql<number>`cast(sum(${value}) as bigint)`
}

/** Deletes the counts of minutes before a given time. */
export async function forgetMinutes(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('call_minute').where('minute', '<', before).execute()
}

/** The calls against a quota in a period, as reported by all nodes; a node reports about once a second. */
export async function quotaUse(
  db: Db,
  organizationId: OrganizationId,
  { subjectId, periodAt }: { readonly subjectId: string; readonly periodAt: number },
): Promise<number> {
  const row = await db.query
    .selectFrom('quota_use')
    .select('calls')
    .where('organization_id', '=', organizationId)
    .where('subject_id', '=', subjectId)
    .where('period_at', '=', periodAt)
    .executeTakeFirst()
  return row?.calls ?? 0
}

/** What a node has spent of a quota, wants to spend and returns. */
export interface QuotaClaim {
  readonly organizationId: OrganizationId
  readonly subjectId: string
  readonly periodAt: number
  /** The number of calls that the quota allows. */
  readonly limit: number
  /** Spent since the node's last report. */
  readonly spent: number
  readonly wanted: number
  /** Claimed earlier but not spent. */
  readonly returned: number
}

/** The state of a quota after a claim: what all nodes have spent and claimed, and what this claim was granted. */
export interface QuotaStanding {
  readonly spent: number
  readonly claimed: number
  readonly granted: number
}

/** Settles claims in order; a claim is granted at most what the limit leaves after the claims of all nodes. */
export async function claimQuotas(tx: Tx, claims: readonly QuotaClaim[]): Promise<QuotaStanding[]> {
  // All nodes use the same order, so they can't deadlock on each other's rows.
  const ordered = claims.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const standings = new Map<string, QuotaStanding>()
  for (let at = 0; at < ordered.length; at += claimsInStatement) {
    const part = ordered.slice(at, at + claimsInStatement)
    for (const row of await settleClaims(tx, part)) standings.set(row.name, row)
    const missing = part.filter((claim) => !standings.has(nameOf(claim)))
    if (missing.length === 0) continue
    await insertUnclaimed(tx, missing)
    for (const row of await settleClaims(tx, missing)) standings.set(row.name, row)
  }
  return claims.map((claim) => {
    const standing = standings.get(nameOf(claim))
    if (standing === undefined) throw new Error('a quota was not settled')
    return standing
  })
}

async function settleClaims(
  tx: Tx,
  claims: readonly QuotaClaim[],
): Promise<(QuotaStanding & { name: string })[]> {
  const values = claims.map(
    ({ organizationId, subjectId, ...counts }) =>
      sql`(${organizationId}, ${subjectId}, ${sql.join(
        [counts.periodAt, counts.spent, counts.wanted, counts.limit, counts.returned].map(
          (count) => sql`cast(${count} as bigint)`,
        ),
      )})`,
  )
  const [least, greatest] = (tx.engine === 'postgres' ? ['least', 'greatest'] : ['min', 'max']).map(
    (name) => sql.raw(name),
  )
  const granted = sql`${least}(v.column5, ${greatest}(v.column6 - (q.claimed - v.column7), 0))`
  if (tx.engine === 'postgres' && claims.length > 1) await lockQuotas(tx, claims)
  const { rows } = await sql<{
    subject_id: string
    period_at: number
    calls: number
    claimed: number
    granted: number
  }>`update quota_use as q set calls = q.calls + v.column4, granted = ${granted},
    claimed = q.claimed - v.column7 + ${granted}
    from (values ${sql.join(values)}) as v
    where q.organization_id = v.column1 and q.subject_id = v.column2 and q.period_at = v.column3
    returning subject_id, period_at, calls, claimed, granted`.execute(tx.query)
  return rows.map((row) => ({
    name: nameOf({ subjectId: row.subject_id, periodAt: row.period_at }),
    spent: row.calls,
    claimed: row.claimed,
    granted: row.granted,
  }))
}

async function lockQuotas(tx: Tx, claims: readonly QuotaClaim[]): Promise<void> {
  await tx.query
    .selectFrom('quota_use')
    .select('subject_id')
    .where('subject_id', 'in', [...new Set(claims.map(({ subjectId }) => subjectId))])
    .where('organization_id', 'in', [...new Set(claims.map((claim) => claim.organizationId))])
    .orderBy('subject_id')
    .orderBy('period_at')
    .forUpdate()
    .execute()
}

async function insertUnclaimed(tx: Tx, claims: readonly QuotaClaim[]): Promise<void> {
  await tx.query
    .insertInto('quota_use')
    .values(
      claims.map(({ organizationId, subjectId, periodAt }) => ({
        ...{ organization_id: organizationId, subject_id: subjectId, period_at: periodAt },
        ...{ calls: 0, claimed: 0, granted: 0 },
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function nameOf({ subjectId, periodAt }: Pick<QuotaClaim, 'subjectId' | 'periodAt'>): string {
  return `${subjectId} ${periodAt}`
}

/** How often a rule decided a call, or would have refused one, on one day. */
export interface RuleCounts {
  readonly organizationId: OrganizationId
  readonly ruleId: string
  readonly dayAt: number
  readonly decided: number
  readonly wouldRefuse: number
}

function dayName(counts: RuleCounts): string {
  return `${counts.organizationId} ${counts.ruleId} ${counts.dayAt}`
}

/** Adds to the counts of rules. */
export async function addRuleDays(tx: Tx, days: readonly RuleCounts[]): Promise<void> {
  for (const counts of days.toSorted((a, b) => (dayName(a) < dayName(b) ? -1 : 1))) {
    await tx.query
      .insertInto('rule_day')
      .values({
        organization_id: counts.organizationId,
        rule_id: counts.ruleId,
        day_at: counts.dayAt,
        decided: counts.decided,
        would_refuse: counts.wouldRefuse,
      })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'rule_id', 'day_at']).doUpdateSet((eb) => ({
          decided: eb('rule_day.decided', '+', eb.ref('excluded.decided')),
          would_refuse: eb('rule_day.would_refuse', '+', eb.ref('excluded.would_refuse')),
        })),
      )
      .execute()
  }
}

/** How often each of an organization's rules decided a call, or would have refused one, since a given day. */
export async function sumByRule(
  db: Db,
  organizationId: OrganizationId,
  since: number,
): Promise<{ readonly ruleId: string; readonly calls: number }[]> {
  return await db.query
    .selectFrom('rule_day')
    .select(['rule_id as ruleId', sumOf(sql`decided + would_refuse`).as('calls')])
    .where('organization_id', '=', organizationId)
    .where('day_at', '>=', since)
    .groupBy('rule_id')
    .execute()
}
