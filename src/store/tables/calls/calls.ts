import { CompiledQuery, sql } from 'kysely'
import {
  createId,
  type KeyId,
  type OrganizationId,
  type RequestId,
  type TargetId,
} from '../../../ids.ts'
import type { Connection, Transaction } from '../../db/db.ts'
import type { CallRecord } from './call-record.ts'
import { insertRowsText, rowsOf, type CallRows } from './call-rows.ts'
import { stepOf, type SumRange, type TrafficSums } from './traffic.ts'

export interface CallTable {
  organization_id: string
  id: string
  at: number
  key_id: string
  target_id: string | null
  method: string
  path: string
  status: number
  refusal: string | null
  stopped_at: string | null
  rule_id: string | null
  trial_rule_id: string | null
  bytes_in: number
  bytes_out: number
  duration_us: number
  upstream_us: number | null
  address: string
  agent: string | null
  capture: string | null
}

/** Adds call records, all in one statement. */
export async function insert(tx: Transaction, calls: readonly CallRecord[]): Promise<void> {
  if (calls.length > 0) await insertRows(tx, rowsOf(calls))
}

/** Adds call records that were collected as rows. */
export async function insertRows(at: Connection, rows: CallRows): Promise<void> {
  await at.query.executeQuery(CompiledQuery.raw(insertRowsText(at.engine), [rows.json]))
}

/** A page of an organization's calls, newest first. */
export async function list(
  at: Connection,
  organizationId: OrganizationId,
  page: {
    /** Ids below (older than) this one. */
    readonly before?: string | undefined
    /** Ids above (newer than) this one. */
    readonly after?: string | undefined
    readonly limit: number
    readonly id?: string | undefined
    readonly keyId?: string | undefined
    readonly targetId?: string | undefined
    readonly stoppedAt?: string | undefined
    /** At least, and below. */
    readonly statuses?: readonly [number, number] | undefined
    readonly method?: string | undefined
    /** What the path begins with. */
    readonly path?: string | undefined
    readonly address?: string | undefined
    readonly from?: number | undefined
    readonly to?: number | undefined
  },
): Promise<CallRecord[]> {
  let query = at.query
    .selectFrom('call')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('id', '<', page.before)
  if (page.after !== undefined) query = query.where('id', '>', page.after)
  if (page.id !== undefined) query = query.where('id', '=', page.id)
  if (page.keyId !== undefined) query = query.where('key_id', '=', page.keyId)
  if (page.targetId !== undefined) query = query.where('target_id', '=', page.targetId)
  if (page.stoppedAt !== undefined) query = query.where('stopped_at', '=', page.stoppedAt)
  if (page.statuses !== undefined) {
    const [least, below] = page.statuses
    query = query.where('status', '>=', least).where('status', '<', below)
  }
  if (page.method !== undefined) query = query.where('method', '=', page.method)
  if (page.path !== undefined) {
    // Paths are ASCII, so all that begin so lie between it and it with the last character behind.
    query = query.where('path', '>=', page.path).where('path', '<', `${page.path}\u007f`)
  }
  if (page.address !== undefined) query = query.where('address', '=', page.address)
  if (page.from !== undefined) {
    query = query.where('at', '>=', page.from).where('id', '>=', idBefore(page.from))
  }
  if (page.to !== undefined)
    query = query.where('at', '<', page.to).where('id', '<', idBehind(page.to))
  return (await query.execute()).map(fromRow)
}

/** An organization's calls of a key, summed: over steps of time, and by the check they stopped at. */
export async function sumOfKey(
  at: Connection,
  organizationId: OrganizationId,
  range: SumRange & { readonly keyId: string },
): Promise<TrafficSums> {
  let query = at.query
    .selectFrom('call')
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', range.keyId)
    .where('at', '>=', range.from)
    .where('at', '<', range.to)
    .where('id', '>=', idBefore(range.from))
    .where('id', '<', idBehind(range.to))
  if (range.targetId !== undefined) query = query.where('target_id', '=', range.targetId)
  const steps = await query
    .select([
      stepOf(sql.ref('at'), range).as('step'),
      sql<number>`count(case when stopped_at is null then 1 end)`.as('passed'),
      sql<number>`count(stopped_at)`.as('refused'),
    ])
    .groupBy('step')
    .execute()
  const checks = await query
    .select((eb) => ['stopped_at', eb.fn.countAll<number>().as('calls')])
    .where('stopped_at', 'is not', null)
    .groupBy('stopped_at')
    .execute()
  return {
    steps,
    refused: checks.map(({ stopped_at: check, calls }) => ({ check: check ?? '', calls })),
  }
}

/** The duration in microseconds that `share` of `count` calls did not exceed. */
export async function percentile(
  at: Connection,
  organizationId: OrganizationId,
  range: {
    from: number
    to: number
    keyId?: string | undefined
    targetId?: string | undefined
    count: number
    share: number
  },
): Promise<number | undefined> {
  let query = at.query
    .selectFrom('call')
    .select('duration_us')
    .where('organization_id', '=', organizationId)
    .where('at', '>=', range.from)
    .where('at', '<', range.to)
    .where('id', '>=', idBefore(range.from))
    .where('id', '<', idBehind(range.to))
    .orderBy('duration_us', 'desc')
    .offset(Math.floor(range.count * (1 - range.share)))
    .limit(1)
  if (range.keyId !== undefined) query = query.where('key_id', '=', range.keyId)
  if (range.targetId !== undefined) query = query.where('target_id', '=', range.targetId)
  return (await query.executeTakeFirst())?.duration_us
}

/** What the rules of a target were asked about, newest first: calls that an earlier check had not refused. */
export async function listAskedRules(
  at: Connection,
  organizationId: OrganizationId,
  page: {
    readonly targetId: string
    readonly from: number
    readonly before: string | undefined
    readonly limit: number
  },
): Promise<Pick<CallTable, 'id' | 'at' | 'method' | 'path'>[]> {
  let query = at.query
    .selectFrom('call')
    .select(['id', 'at', 'method', 'path'])
    .where('organization_id', '=', organizationId)
    .where('target_id', '=', page.targetId)
    .where('id', '>=', idBefore(page.from))
    .where('at', '>=', page.from)
    .where((eb) =>
      eb.or([eb('stopped_at', 'is', null), eb('stopped_at', 'in', ['rules', 'limits', 'forward'])]),
    )
    .orderBy('id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('id', '<', page.before)
  return await query.execute()
}

/** The call with this id. */
export async function find(
  at: Connection,
  organizationId: OrganizationId,
  id: string,
): Promise<CallRecord | undefined> {
  const row = await at.query
    .selectFrom('call')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The next organization (by id) that has calls to be deleted one by one, deleted ones included; a step along the index. */
export async function nextOrganization(
  at: Connection,
  after: string,
): Promise<OrganizationId | undefined> {
  const row = await at.query
    .selectFrom(rowByRow(at))
    .select('organization_id')
    .where('organization_id', '>', after)
    .orderBy('organization_id')
    .limit(1)
    .executeTakeFirst()
  return row?.organization_id as OrganizationId | undefined
}

/** Where records are deleted one by one: on PostgreSQL days are dropped whole, and the rest is in one partition. */
function rowByRow(at: Connection): 'call' | 'call_other' {
  return at.engine === 'postgres' ? 'call_other' : 'call'
}

/** Deletes an organization's calls with ids below this one, up to `limit`; returns how many. */
export async function forget(
  tx: Transaction,
  organizationId: OrganizationId,
  beforeId: string,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom(rowByRow(tx))
    .where('organization_id', '=', organizationId)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom(rowByRow(tx))
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('id', '<', beforeId)
        .limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

// An id is made when the call arrives, and `at` is reckoned back at its end: a clock that is put right in between parts them.
const clockMarginMs = 60_000

/** An id below those of calls that arrived at a time or later; lists are in the order of ids, so that this is where to begin. */
function idBefore(at: number): string {
  return createId('req', Math.max(0, Math.floor(at) - clockMarginMs))
}

/** An id above those of calls that arrived before a time. */
function idBehind(at: number): string {
  return createId('req', Math.max(0, Math.ceil(at) + clockMarginMs))
}

function fromRow(row: CallTable): CallRecord {
  return {
    id: row.id as RequestId,
    at: row.at,
    organizationId: row.organization_id as OrganizationId,
    keyId: row.key_id as KeyId,
    targetId: (row.target_id as TargetId | null) ?? undefined,
    method: row.method,
    path: row.path,
    status: row.status,
    refusal: row.refusal ?? undefined,
    stoppedAt: row.stopped_at ?? undefined,
    ruleId: row.rule_id ?? undefined,
    trialRuleId: row.trial_rule_id ?? undefined,
    bytesIn: row.bytes_in,
    bytesOut: row.bytes_out,
    durationUs: row.duration_us,
    upstreamUs: row.upstream_us ?? undefined,
    address: row.address,
    agent: row.agent ?? undefined,
    capture: row.capture ?? undefined,
  }
}
