import { CompiledQuery } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { ownRow } from '../../db/own-rows.ts'
import { insertBlocks } from './blocks/block-insert.ts'
import { readNewest } from './blocks/block-search.ts'
import { blocksOfParts, maxBlockSpanMs, textOf } from './blocks/call-block.ts'
import {
  callColumns,
  callRecordOf,
  type CallColumn,
  type CallTable,
} from './record/call-columns.ts'
import type { CallRecord } from './record/call-record.ts'
import { insertRowsText, rowsOf, type CallRows } from './call-rows.ts'
import { nextOrganizationIn } from './next-organization.ts'
import { callsThat } from './record/call-condition.ts'
import { idBefore, type CallFilter, type CallSlice } from './record/call-filter.ts'

/** An organization's calls with ids below `beforeId`, up to about `limit` of them. */
export interface OldCalls {
  readonly organizationId: OrganizationId
  readonly beforeId: string
  readonly limit: number
}

export async function insert(tx: Tx, calls: readonly CallRecord[]): Promise<void> {
  if (calls.length > 0) await insertRows(tx, rowsOf(calls))
}

/** Adds call records already collected as rows; returns how many of them were new. */
export async function insertRows(db: Db, { parts }: CallRows): Promise<number> {
  if (db.engine === 'sqlite') return await insertBlocks(db, blocksOfParts(parts, maxBlockSpanMs))
  let added = 0
  for (const part of parts) {
    const insertion = CompiledQuery.raw(insertRowsText(), [textOf(part)])
    const { numAffectedRows } = await db.query.executeQuery(insertion)
    added += Number(numAffectedRows ?? 0)
  }
  return added
}

/** A page of an organization's calls, newest first. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  { limit, ...filter }: CallFilter & CallSlice & { readonly limit: number },
): Promise<CallRecord[]> {
  const rows = await listColumns(db, organizationId, { filter, limit, columns: callColumns })
  return rows.map(callRecordOf)
}

/** The same page with some columns only. */
export async function listColumns<Name extends CallColumn>(
  db: Db,
  organizationId: OrganizationId,
  order: {
    readonly filter: CallFilter & CallSlice
    readonly limit: number
    readonly columns: readonly Name[]
  },
): Promise<readonly Pick<CallTable, Name>[]> {
  if (db.engine === 'sqlite') return await readNewest(db, organizationId, order)
  const query = db.query
    .selectFrom('call')
    .select(order.columns as readonly CallColumn[])
    .where(callsThat(db, organizationId, order.filter))
    .orderBy('id', 'desc')
    .limit(order.limit)
  return await query.execute()
}

type AskedCall = Pick<CallTable, 'id' | 'at' | 'method' | 'path'>
const askedColumns = ['id', 'at', 'method', 'path'] as const
/** The checks that a call stops at after it has passed those before the rules. */
const fromRules = ['rules', 'limits', 'forward'] as const

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
): Promise<readonly AskedCall[]> {
  const { targetId, from, before, limit } = page
  if (db.engine === 'sqlite') {
    const filter = { targetId, from, before, stoppedIn: fromRules }
    return await readNewest(db, organizationId, { filter, limit, columns: askedColumns })
  }
  let query = db.query
    .selectFrom('call')
    .select(askedColumns)
    .where('organization_id', '=', organizationId)
    .where('target_id', '=', targetId)
    .where('id', '>=', idBefore(from))
    .where('at', '>=', from)
    .where((eb) => eb.or([eb('stopped_at', 'is', null), eb('stopped_at', 'in', fromRules)]))
    .orderBy('id', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('id', '<', before)
  return await query.execute()
}

export async function find(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<CallRecord | undefined> {
  if (db.engine === 'sqlite') {
    const order = { filter: { id }, limit: 1, columns: callColumns }
    const [row] = await readNewest(db, organizationId, order)
    return row && callRecordOf(row)
  }
  const row = await ownRow(db, 'call', { organizationId, id })
  return row && callRecordOf(row)
}

/**
 * The next organization, in id order, with calls in the table that `forget` deletes from; undefined after the last one.
 * Deleted organizations count too.
 */
export async function nextOrganization(db: Db, after: string): Promise<OrganizationId | undefined> {
  return await nextOrganizationIn(db, db.engine === 'sqlite' ? 'call_block' : 'call_other', after)
}

/**
 * Deletes up to `limit` of an organization's calls with ids below `beforeId` from PostgreSQL's default partition; whole
 * daily partitions are dropped elsewhere. Returns whether more may be left.
 */
export async function forgetRows(
  tx: Tx,
  { organizationId, beforeId, limit }: OldCalls,
): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('call_other')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('call_other')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('id', '<', beforeId)
        .limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows) === limit
}
