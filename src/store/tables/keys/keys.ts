import { sql, type SqlBool } from 'kysely'
import type { KeyId, OrganizationId, UserId } from '../../../ids.ts'
import type { Rate } from '../../../rate.ts'
import type { MembershipRecord } from '../people/memberships.ts'
import { columns, lastUse, json, maybe, number, text, time } from '../../db/columns.ts'
import type { Column, JsonOf, RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import { contains } from '../../db/contains.ts'
import { jsonMember } from '../../db/json-member.ts'
import { newestFirst, type NewestPage } from '../../db/newest-first.ts'
import { ownRow } from '../../db/own-rows.ts'
import { snakeName } from '../../db/snake-case.ts'
import { dayMs } from '../../../units.ts'

export type Scheme = 'x-api-key' | 'bearer'

/** A target (by slug) and the methods that a key may call there; undefined methods mean all. */
export interface Grant {
  readonly target: string
  readonly methods?: readonly string[] | undefined
}

/** A maximum of `calls` per calendar day or month (UTC). */
export interface Quota {
  readonly calls: number
  readonly period: 'day' | 'month'
}

/** Names and values by which people find keys, such as `team: payments`. */
export type Labels = Readonly<Record<string, string>>

/** Selects keys that have a label, or that have it with this value if one is given. */
export interface LabelFilter {
  readonly name: string
  readonly value?: string | undefined
}

/**
 * What people set when they issue or edit a key, besides its name. Undefined grants allow every target; undefined CIDRs
 * allow every address.
 */
const editColumns = {
  grants: maybe(json<readonly Grant[]>()),
  cidrs: maybe(json<readonly string[]>()),
  rateLimit: maybe(json<Rate>()),
  quota: maybe(json<Quota>()),
  labels: maybe(json<Labels>()),
  expiresAt: maybe(time()),
}

/** Columns that people see but do not edit. A column declared here appears in the API and on the command line. */
const shownColumns = {
  createdAt: time(),
  createdBy: maybe(text()),
  personalUserId: maybe(text<UserId>()),
  revokedAt: maybe(time()),
  revokedBy: maybe(text()),
  ...lastUse,
  lastUsedTargetId: maybe(text()),
}

const declared = {
  id: text<KeyId>(),
  organizationId: text<OrganizationId>(),
  name: text(),
  scheme: text<Scheme>(),
  ...editColumns,
  ...shownColumns,
  suspendedAt: maybe(time()),
  version: number(),
}

const hidden = { expiryAnnouncedAt: maybe(time()) }
const { fromRow, toRow, toJson } = columns(declared, hidden)
export { fromRow }

/** A key as stored, without its secrets. */
export type KeyRecord = RecordOf<typeof declared>
export type KeyTable = TableOf<typeof declared & typeof hidden>

/** The fields that a person sets when issuing or editing a key. */
export type KeyEdit = Pick<KeyRecord, 'name' | keyof typeof editColumns>
export type KeyInput = Pick<KeyEdit, 'name'> & Partial<KeyEdit>

/** The columns of a key that people see but do not edit, as public JSON. */
export type KeyShown = JsonOf<typeof shownColumns>

/** The JSON Schemas of the columns that people see but do not edit, by their names in JSON. */
export const shownSchemas = Object.fromEntries(
  Object.entries(shownColumns).map(([name, { schema }]) => [snakeName(name), schema]),
) as { readonly [Name in keyof KeyShown]: Column['schema'] }

export function shownOf(key: KeyRecord): KeyShown {
  const values = Object.keys(shownColumns).map((name) => [
    name,
    key[name as keyof typeof shownColumns],
  ])
  return toJson(Object.fromEntries(values) as KeyRecord) as KeyShown
}

export const editable = ['name', ...Object.keys(editColumns)] as readonly (keyof KeyEdit)[]

/** Extracts exactly the editable fields. A missing one becomes undefined: no restriction, no expiry, no labels. */
export function editOf(key: KeyInput): KeyEdit {
  return Object.fromEntries(editable.map((name) => [name, key[name]])) as unknown as KeyEdit
}

/** Returns the editable fields and the scheme, as the audit log shows them. */
export function describe(key: KeyRecord): Record<string, unknown> {
  return { ...toJson({ ...editOf(key), scheme: key.scheme }) }
}

type NewKey = KeyEdit &
  Pick<KeyRecord, 'id' | 'organizationId' | 'scheme' | 'createdBy' | 'personalUserId'>

/** Adds a key without its secret. */
export async function insert(tx: Tx, key: NewKey): Promise<KeyRecord> {
  const row = await tx.query
    .insertInto('api_key')
    .values(toRow({ ...key, createdAt: tx.now, version: 1 }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Replaces the editable fields; undefined if there is no such key at that version, or if the key is revoked. */
export async function update(
  tx: Tx,
  { organizationId, id }: Pick<KeyRecord, 'organizationId' | 'id'>,
  { expectedVersion, ...edit }: KeyEdit & { readonly expectedVersion?: number | undefined },
): Promise<KeyRecord | undefined> {
  let query = tx.query
    .updateTable('api_key')
    .set((eb) => ({ ...toRow(editOf(edit)), version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
  if (expectedVersion !== undefined) query = query.where('version', '=', expectedVersion)
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** Revokes a key; undefined if it does not exist or is already revoked. */
export async function revoke(
  tx: Tx,
  {
    organizationId,
    id,
    revokedBy,
  }: {
    readonly organizationId: OrganizationId
    readonly id: KeyId
    readonly revokedBy: string | undefined
  },
): Promise<KeyRecord | undefined> {
  const row = await tx.query
    .updateTable('api_key')
    .set((eb) => ({
      revoked_at: tx.now,
      revoked_by: revokedBy ?? null,
      version: eb('version', '+', 1),
    }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Suspends a person's personal keys from `suspendedAt` on, or resumes them if `suspendedAt` is undefined; returns the
 * ids of the keys that changed.
 */
export async function suspendPersonal(
  tx: Tx,
  { suspendedAt, ...holder }: Holder & { readonly suspendedAt: number | undefined },
): Promise<KeyId[]> {
  const rows = await personalKeys(tx, holder)
    .set({ suspended_at: suspendedAt ?? null })
    .where('suspended_at', suspendedAt === undefined ? 'is not' : 'is', null)
    .returning('id')
    .execute()
  return rows.map((row) => row.id as KeyId)
}

/** Revokes a person's personal keys in an organization; returns the ids of the keys that changed. */
export async function revokePersonal(
  tx: Tx,
  { revokedBy, ...holder }: Holder & { readonly revokedBy: string },
): Promise<KeyId[]> {
  const rows = await personalKeys(tx, holder)
    .set((eb) => ({ revoked_at: tx.now, revoked_by: revokedBy, version: eb('version', '+', 1) }))
    .returning('id')
    .execute()
  return rows.map((row) => row.id as KeyId)
}

type Holder = Pick<MembershipRecord, 'organizationId' | 'userId'>

function personalKeys(tx: Tx, { organizationId, userId }: Holder) {
  return tx.query
    .updateTable('api_key')
    .where('organization_id', '=', organizationId)
    .where('personal_user_id', '=', userId)
    .where('revoked_at', 'is', null)
}

/** Finds a key by its id, but never another organization's. */
export async function find(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<KeyRecord | undefined> {
  const row = await ownRow(db, 'api_key', { organizationId, id })
  return row && fromRow(row)
}

/** Finds the organization of a key that is named by its id alone. */
export async function organizationOf(db: Db, id: string): Promise<OrganizationId | undefined> {
  const row = await db.query
    .selectFrom('api_key')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.organization_id as OrganizationId | undefined
}

/** Lists a page of an organization's keys, newest first. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: NewestPage & {
    state?: 'active' | 'expiring' | 'unused' | 'revoked' | 'expired' | undefined
    nowMs: number
    /** A key's whole id, part of its name, or a secret's public id (`publicId` if given, otherwise this text). */
    search?: string | undefined
    publicId?: string | undefined
    createdBy?: string | undefined
    /** Only keys that have all these labels. */
    labels?: readonly LabelFilter[] | undefined
  },
): Promise<KeyRecord[]> {
  let query = newestFirst(db.query.selectFrom('api_key').selectAll(), page).where(
    'organization_id',
    '=',
    organizationId,
  )
  if (page.createdBy !== undefined) query = query.where('created_by', '=', page.createdBy)
  if (page.state === 'revoked') query = query.where('revoked_at', 'is not', null)
  if (page.state === 'expired') {
    query = query.where('revoked_at', 'is', null).where('expires_at', '<=', page.nowMs)
  }
  if (page.state === 'active' || page.state === 'expiring' || page.state === 'unused') {
    query = query
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', page.nowMs)]))
  }
  if (page.state === 'expiring') {
    query = query.where('expires_at', '<=', page.nowMs + expiringWithinMs)
  }
  if (page.state === 'unused') query = query.where('last_used_at', 'is', null)
  if (page.search !== undefined) {
    const { search, publicId = search } = page
    query = query.where((eb) =>
      eb.or([
        eb('id', '=', search),
        contains(db, sql.ref('name'), search),
        eb(
          'id',
          'in',
          eb
            .selectFrom('key_secret')
            .select('key_id')
            .where('key_secret.organization_id', '=', organizationId)
            .where('lookup', '=', publicId),
        ),
      ]),
    )
  }
  for (const { name, value } of page.labels ?? []) {
    const label = jsonMember(db, sql.ref('labels'), name)
    query = query.where(
      value === undefined ? sql<SqlBool>`${label} is not null` : sql<SqlBool>`${label} = ${value}`,
    )
  }
  return (await query.execute()).map(fromRow)
}

const expiringWithinMs = 7 * dayMs

/**
 * Takes up to `limit` keys that have expired, are not revoked and have not been announced yet, and marks them as
 * announced.
 */
export async function takeExpired(tx: Tx, limit: number): Promise<KeyRecord[]> {
  const rows = await tx.query
    .updateTable('api_key')
    .set({ expiry_announced_at: tx.now })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('api_key')
        .select('id')
        .where('expires_at', '<=', tx.now)
        .where('revoked_at', 'is', null)
        .where('expiry_announced_at', 'is', null)
        .limit(limit),
    )
    .where('expiry_announced_at', 'is', null)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}
