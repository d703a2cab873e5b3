import { CompiledQuery, sql } from 'kysely'
import type { KeyId, OrganizationId, RequestId, TargetId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { ownRow } from '../../db/own-rows.ts'
import type { CallRecord } from './call-record.ts'
import { insertRowsText, rowsOf, type CallRows } from './call-rows.ts'
import { nextOrganizationIn } from './next-organization.ts'
import { callsThat, idBefore, type CallFilter, type CallSlice } from './call-filter.ts'

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

export async function insert(tx: Tx, calls: readonly CallRecord[]): Promise<void> {
  if (calls.length > 0) await insertRows(tx, rowsOf(calls))
}

/** Adds call records already collected as rows; returns how many of them were new. */
export async function insertRows(db: Db, rows: CallRows): Promise<number> {
  const insertion = CompiledQuery.raw(insertRowsText(db.engine), [rows.json])
  const { numAffectedRows } = await db.query.executeQuery(insertion)
  return Number(numAffectedRows ?? 0)
}

/** A page of an organization's calls, newest first. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: CallFilter &
    CallSlice & {
      readonly index?: CallIndex | undefined
      readonly limit: number
    },
): Promise<CallRecord[]> {
  const query = db.query
    .selectFrom(callsBy(db, page.index))
    .selectAll()
    .where(callsThat(db, organizationId, page))
    .orderBy('id', 'desc')
    .limit(page.limit)
  return (await query.execute()).map(fromRow)
}

/** The secondary indexes that SQLite can be made to use for calls. */
export type CallIndex = 'call_failed' | 'call_key'

/**
 * The call table, read by a given index: without statistics, SQLite would choose the primary key and scan every call.
 */
export function callsBy(db: Db, index: CallIndex | undefined) {
  const by = index === undefined || db.engine === 'postgres' ? '' : ` indexed by ${index}`
  return sql<CallTable>`call`.as<'call'>(sql.raw(`call${by}`))
}

/** Calls that reached a target's rules, newest first; calls refused by an earlier check are left out. */
export async function listAskedRules(
  db: Db,
  organizationId: OrganizationId,
  page: {
    readonly targetId: string
    readonly from: number
    readonly before: string | undefined
    readonly limit: number
  },
): Promise<Pick<CallTable, 'id' | 'at' | 'method' | 'path'>[]> {
  let query = db.query
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

export async function find(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<CallRecord | undefined> {
  const row = await ownRow(db, 'call', { organizationId, id })
  return row && fromRow(row)
}

/**
 * The next organization, in id order, with calls in the table that `forget` deletes from; undefined after the last one.
 * Deleted organizations count too.
 */
export async function nextOrganization(db: Db, after: string): Promise<OrganizationId | undefined> {
  return await nextOrganizationIn(db, rowByRow(db), after)
}

/**
 * The table whose rows are deleted one by one: PostgreSQL drops whole daily partitions, so only the default partition
 * remains.
 */
function rowByRow(db: Db): 'call' | 'call_other' {
  return db.engine === 'postgres' ? 'call_other' : 'call'
}

/**
 * Deletes up to `limit` of an organization's calls with ids below `beforeId`, on PostgreSQL only from the default
 * partition; returns how many.
 */
export async function forget(
  tx: Tx,
  {
    organizationId,
    beforeId,
    limit,
  }: {
    readonly organizationId: OrganizationId
    readonly beforeId: string
    readonly limit: number
  },
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
