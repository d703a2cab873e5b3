import { headParts, sealOf } from '../audit/seals.ts'
import type { OrganizationId } from '../../../ids.ts'
import { columns, json, maybe, number, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface OrganizationHeadTable {
  organization_id: string
  audit_sequence: number
  audit_hash: string
  audit_seal: string
  event_sequence: number
}

export type Plan = 'standard' | 'enterprise'

const declared = {
  id: text<OrganizationId>(),
  slug: text(),
  name: text(),
  plan: text<Plan>(),
  settings: json<Readonly<Record<string, unknown>>>(),
  version: number(),
  createdAt: time(),
}

const hidden = {
  deletedAt: maybe(time()),
}
const { fromRow, toRow } = columns(declared, hidden)

/** An organization as stored; deleted ones are never returned. */
export type OrganizationRecord = RecordOf<typeof declared>
export type OrganizationTable = TableOf<typeof declared & typeof hidden>

/** Adds an organization and its head; undefined if the slug is taken. */
export async function insert(
  tx: Tx,
  organization: { id: OrganizationId; slug: string; name: string; plan: Plan },
): Promise<OrganizationRecord | undefined> {
  const row = await tx.query
    .insertInto('organization')
    .values(toRow({ ...organization, settings: {}, version: 1, createdAt: tx.now }))
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) return undefined
  await tx.query
    .insertInto('organization_head')
    .values({
      organization_id: row.id,
      audit_sequence: 0,
      audit_hash: '',
      audit_seal: sealOf(tx, headParts(row.id, { sequence: 0, hash: '' })),
      event_sequence: 0,
    })
    .execute()
  return fromRow(row)
}

/**
 * Finds the organization with this id, unless it has been deleted. With `lock`, its row stays locked until the
 * transaction ends.
 */
export async function find(
  db: Db,
  id: string,
  lock = false,
): Promise<OrganizationRecord | undefined> {
  const row = await db.query
    .selectFrom('organization')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    // This weaker lock still lets others add rows that refer to the organization.
    .$if(lock && db.engine === 'postgres', (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Finds an organization by its slug, unless it has been deleted. */
export async function findBySlug(db: Db, slug: string): Promise<OrganizationRecord | undefined> {
  const row = await db.query
    .selectFrom('organization')
    .selectAll()
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Lists a page of all organizations in slug order, starting after a given slug. */
export async function list(
  db: Db,
  page: { after?: string | undefined; limit: number },
): Promise<OrganizationRecord[]> {
  const rows = await db.query
    .selectFrom('organization')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where('slug', '>', page.after ?? '')
    .orderBy('slug')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

/** Changes the given fields; undefined if there is no such organization, or none at that version. */
export async function update(
  tx: Tx,
  id: string,
  change: {
    name?: string | undefined
    plan?: Plan | undefined
    settings?: Readonly<Record<string, unknown>> | undefined
    expectedVersion?: number | undefined
  },
): Promise<OrganizationRecord | undefined> {
  let query = tx.query
    .updateTable('organization')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
  if (change.name !== undefined) query = query.set({ name: change.name })
  if (change.plan !== undefined) query = query.set({ plan: change.plan })
  if (change.settings !== undefined)
    query = query.set({ settings: JSON.stringify(change.settings) })
  if (change.expectedVersion !== undefined) {
    query = query.where('version', '=', change.expectedVersion)
  }
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** Marks an organization as deleted and frees its slug; undefined if there is none. */
export async function remove(tx: Tx, id: string): Promise<OrganizationRecord | undefined> {
  const before = await find(tx, id)
  if (!before) return undefined
  await tx.query
    .updateTable('organization')
    .set({ deleted_at: tx.now, slug: `${before.slug}~${id}` })
    .where('id', '=', id)
    .execute()
  return before
}
