import type { OrganizationId } from '../../../ids.ts'
import type { Connection, Transaction } from '../../db/db.ts'

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
}

export interface RuleDayTable {
  organization_id: string
  rule_id: string
  day_at: number
  decided: number
  would_refuse: number
}

/** Calls of one minute, target and check. */
export interface MinuteCounts {
  readonly organizationId: OrganizationId
  /** Milliseconds since 1970 at which the minute began. */
  readonly minute: number
  /** '' when no target was found. */
  readonly targetId: string
  /** The check that refused, or '' for forwarded calls. */
  readonly stoppedAt: string
  readonly calls: number
  /** Answers with 5xx. */
  readonly errors: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly durationUs: number
}

/** Adds counts to their minutes. */
export async function addMinutes(tx: Transaction, minutes: readonly MinuteCounts[]): Promise<void> {
  for (const counts of minutes) {
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

/** An organization's counts from one minute to another (exclusive), by minute. */
export async function listMinutes(
  at: Connection,
  organizationId: OrganizationId,
  range: { readonly from: number; readonly to: number; readonly targetId?: string | undefined },
): Promise<MinuteCounts[]> {
  let query = at.query
    .selectFrom('call_minute')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('minute', '>=', range.from)
    .where('minute', '<', range.to)
    .orderBy('minute')
  if (range.targetId !== undefined) query = query.where('target_id', '=', range.targetId)
  const rows = await query.execute()
  return rows.map((row) => ({
    organizationId,
    minute: row.minute,
    targetId: row.target_id,
    stoppedAt: row.stopped_at,
    calls: row.calls,
    errors: row.errors,
    bytesIn: row.bytes_in,
    bytesOut: row.bytes_out,
    durationUs: row.duration_us,
  }))
}

/** Deletes counts of minutes before this one. */
export async function forgetMinutes(tx: Transaction, before: number): Promise<void> {
  await tx.query.deleteFrom('call_minute').where('minute', '<', before).execute()
}

/** Adds calls to what a key or target has used in a period; returns what it has used with them. */
export async function addQuotaUse(
  tx: Transaction,
  use: {
    readonly organizationId: OrganizationId
    readonly subjectId: string
    readonly periodAt: number
    readonly calls: number
  },
): Promise<number> {
  const row = await tx.query
    .insertInto('quota_use')
    .values({
      organization_id: use.organizationId,
      subject_id: use.subjectId,
      period_at: use.periodAt,
      calls: use.calls,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'subject_id', 'period_at'])
        .doUpdateSet((eb) => ({ calls: eb('quota_use.calls', '+', eb.ref('excluded.calls')) })),
    )
    .returning('calls')
    .executeTakeFirstOrThrow()
  return row.calls
}

/** What a key or target has used in a period. */
export async function findQuotaUse(
  at: Connection,
  organizationId: OrganizationId,
  subjectId: string,
  periodAt: number,
): Promise<number> {
  const row = await at.query
    .selectFrom('quota_use')
    .select('calls')
    .where('organization_id', '=', organizationId)
    .where('subject_id', '=', subjectId)
    .where('period_at', '=', periodAt)
    .executeTakeFirst()
  return row?.calls ?? 0
}

/** How often a rule decided, or would have refused, on a day. */
export interface RuleCounts {
  readonly organizationId: OrganizationId
  readonly ruleId: string
  readonly dayAt: number
  readonly decided: number
  readonly wouldRefuse: number
}

/** Adds to the rules' counts. */
export async function addRuleDays(tx: Transaction, days: readonly RuleCounts[]): Promise<void> {
  for (const counts of days) {
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

/** The counts of an organization's rules since a day. */
export async function listRuleDays(
  at: Connection,
  organizationId: OrganizationId,
  since: number,
): Promise<RuleCounts[]> {
  const rows = await at.query
    .selectFrom('rule_day')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('day_at', '>=', since)
    .execute()
  return rows.map((row) => ({
    organizationId,
    ruleId: row.rule_id,
    dayAt: row.day_at,
    decided: row.decided,
    wouldRefuse: row.would_refuse,
  }))
}
