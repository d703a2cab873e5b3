import { sql, type Expression, type RawBuilder } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import { limitLocks } from '../../db/brief-locks.ts'
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

/** The range to sum; times are whole milliseconds since 1970. */
export interface SumRange {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  readonly targetId?: string | undefined
  /** Only calls stopped by this check. */
  readonly check?: string | undefined
}

/**
 * Numbers of calls by time step and by the check that stopped them. Steps are numbered from 0; empty groups are left
 * out.
 */
export interface TrafficSums {
  readonly rows: readonly {
    readonly step: number
    /** '' for calls without a refusal. */
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
 * Counts, for each target, the calls since a given time that passed every check, and how many of those failed at the
 * upstream.
 */
export async function sumRecent(
  db: Db,
  organizationId: OrganizationId,
  from: number,
): Promise<{ readonly targetId: string; readonly calls: number; readonly errors: number }[]> {
  return await db.query
    .selectFrom('call_minute')
    .select([
      'target_id as targetId',
      sumOf(sql.ref('calls')).as('calls'),
      sumOf(sql.ref('errors')).as('errors'),
    ])
    .where('organization_id', '=', organizationId)
    .where('minute', '>=', from)
    .where('stopped_at', 'in', ['', 'forward'])
    .groupBy('target_id')
    .execute()
}

export async function sumByTargetAndStep(
  db: Db,
  organizationId: OrganizationId,
  range: Pick<SumRange, 'from' | 'to' | 'stepMs'>,
): Promise<
  {
    readonly targetId: string
    readonly step: number
    readonly calls: number
    /** Refused by us, or failed at the upstream. */
    readonly failed: number
    /** Refused by us, for example because the upstream did not respond. */
    readonly refused: number
  }[]
> {
  return await db.query
    .selectFrom('call_minute')
    .select([
      'target_id as targetId',
      stepOf(sql.ref('minute'), range).as('step'),
      sumOf(sql.ref('calls')).as('calls'),
      sumOf(sql`case when stopped_at = '' then errors else calls end`).as('failed'),
      sumOf(sql`case when stopped_at = '' then 0 else calls end`).as('refused'),
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
export function sumOf(value: Expression<unknown>): RawBuilder<number> {
  return sql<number>`cast(sum(${value}) as bigint)`
}

/** Deletes up to `limit` counts of minutes before the given one; returns how many. */
export async function forgetMinutes(tx: Tx, before: number, limit: number): Promise<number> {
  const key = sql`organization_id, minute, target_id, stopped_at`
  const { numAffectedRows } = await sql`delete from call_minute where (${key}) in
    (select ${key} from call_minute where minute < ${before} limit ${sql.lit(limit)})`.execute(
    tx.query,
  )
  return Number(numAffectedRows ?? 0)
}

/** Returns how many calls count against a quota in a period, as the nodes last reported. */
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

/** A node's claim on a quota: the calls that it has spent, wants to spend, and gives back. */
export interface QuotaClaim {
  readonly organizationId: OrganizationId
  readonly subjectId: string
  readonly periodAt: number
  /** The number of calls that the quota allows. */
  readonly limit: number
  /** The calls made since the node's last report. */
  readonly spent: number
  readonly wanted: number
  /** The calls that the node claimed earlier and no longer needs. */
  readonly returned: number
}

/** The state of a quota after a claim: what all nodes have spent and claimed, and what this claim was granted. */
export interface QuotaStanding {
  readonly spent: number
  readonly claimed: number
  readonly granted: number
}

/**
 * Settles claims and returns the standings in the same order. A claim is granted at most what the limit leaves after
 * the claims of all nodes.
 */
export async function claimQuotas(tx: Tx, claims: readonly QuotaClaim[]): Promise<QuotaStanding[]> {
  // All nodes use the same order, so they can't deadlock on each other's rows.
  const ordered = claims.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const standings = new Map<string, QuotaStanding>()
  await limitLocks(tx)
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
