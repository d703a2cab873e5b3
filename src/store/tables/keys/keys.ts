import { sql, type SqlBool } from 'kysely'
import type { KeyId, OrganizationId, UserId } from '../../../ids.ts'
import type { Rate } from '../../../rate.ts'
import type { MembershipRecord } from '../people/memberships.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface KeyTable {
  id: string
  organization_id: string
  name: string
  scheme: string
  created_at: number
  created_by: string | null
  personal_user_id: string | null
  grants: string | null
  cidrs: string | null
  rate_limit: string | null
  quota: string | null
  expires_at: number | null
  revoked_at: number | null
  revoked_by: string | null
  suspended_at: number | null
  expiry_announced_at: number | null
  last_used_at: number | null
  last_used_address: string | null
  last_used_agent: string | null
  last_used_target_id: string | null
  version: number
}

export type Scheme = 'x-api-key' | 'bearer'

/** What a key may reach: a target (by slug) and methods there; no methods = all methods. */
export interface Grant {
  readonly target: string
  readonly methods?: readonly string[] | undefined
}

/** At most `calls` in each calendar day or month (UTC). */
export interface Quota {
  readonly calls: number
  readonly period: 'day' | 'month'
}

/** A key as stored; undefined grants reach every target, undefined CIDRs allow every address. */
export interface KeyRecord {
  readonly id: KeyId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly scheme: Scheme
  readonly createdAt: number
  readonly createdBy: string | undefined
  readonly personalUserId: UserId | undefined
  readonly grants: readonly Grant[] | undefined
  readonly cidrs: readonly string[] | undefined
  readonly rateLimit: Rate | undefined
  readonly quota: Quota | undefined
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  readonly revokedBy: string | undefined
  readonly suspendedAt: number | undefined
  readonly lastUsedAt: number | undefined
  readonly lastUsedAddress: string | undefined
  readonly lastUsedAgent: string | undefined
  readonly lastUsedTargetId: string | undefined
  readonly version: number
}

/** A new key's data. */
export interface NewKey {
  readonly id: KeyId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly scheme: Scheme
  readonly createdBy: string | undefined
  readonly personalUserId: UserId | undefined
  readonly grants: readonly Grant[] | undefined
  readonly cidrs: readonly string[] | undefined
  readonly rateLimit: Rate | undefined
  readonly quota: Quota | undefined
  readonly expiresAt: number | undefined
}

/** Adds a key (without its secret). */
export async function insert(tx: Tx, key: NewKey): Promise<KeyRecord> {
  const row = await tx.query
    .insertInto('api_key')
    .values({
      id: key.id,
      organization_id: key.organizationId,
      name: key.name,
      scheme: key.scheme,
      created_at: tx.now,
      created_by: key.createdBy ?? null,
      personal_user_id: key.personalUserId ?? null,
      ...editableColumns(key),
      revoked_at: null,
      revoked_by: null,
      suspended_at: null,
      expiry_announced_at: null,
      last_used_at: null,
      last_used_address: null,
      last_used_agent: null,
      last_used_target_id: null,
      version: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Replaces what an edit may change; undefined if there is no such living key at that version. */
export async function update(
  tx: Tx,
  {
    organizationId,
    id,
    key,
    expectedVersion,
  }: {
    readonly organizationId: OrganizationId
    readonly id: KeyId
    readonly key: Pick<NewKey, 'name' | 'grants' | 'cidrs' | 'rateLimit' | 'quota' | 'expiresAt'>
    readonly expectedVersion?: number | undefined
  },
): Promise<KeyRecord | undefined> {
  let query = tx.query
    .updateTable('api_key')
    .set((eb) => ({ ...editableColumns(key), name: key.name, version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
  if (expectedVersion !== undefined) query = query.where('version', '=', expectedVersion)
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** Revokes a key; undefined if there is no such key or it is revoked already. */
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

/** Suspends (a time) or resumes (undefined) the personal keys of a person; returns the ids of the keys that changed. */
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

/** Revokes the personal keys of a person who left; returns the ids of the keys that changed. */
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

/** The key with this id in this organization. */
export async function find(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<KeyRecord | undefined> {
  const row = await db.query
    .selectFrom('api_key')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Whose key an id is; for the operator, who names keys without their organization. */
export async function organizationOf(db: Db, id: string): Promise<OrganizationId | undefined> {
  const row = await db.query
    .selectFrom('api_key')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.organization_id as OrganizationId | undefined
}

/** A page of an organization's keys, newest first, before an id; each with its secrets' records. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: {
    before?: string | undefined
    limit: number
    state?: 'active' | 'expiring' | 'unused' | 'revoked' | 'expired' | undefined
    nowMs: number
    search?: string | undefined
    createdBy?: string | undefined
  },
): Promise<KeyRecord[]> {
  let query = db.query
    .selectFrom('api_key')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('id', '<', page.before)
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
    const { search } = page
    const find = sql.raw(db.engine === 'postgres' ? 'strpos' : 'instr')
    query = query.where((eb) =>
      eb.or([
        eb('id', '=', search),
        sql<SqlBool>`${find}(lower(name), ${search.toLowerCase()}) > 0`,
        eb(
          'id',
          'in',
          eb
            .selectFrom('key_secret')
            .select('key_id')
            .where('key_secret.organization_id', '=', organizationId)
            .where('lookup', '=', search),
        ),
      ]),
    )
  }
  return (await query.execute()).map(fromRow)
}

const expiringWithinMs = 7 * 24 * 3600 * 1000

/** Keys whose end has come and that nobody was told of yet; marks them as told. */
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

function editableColumns(
  key: Pick<NewKey, 'grants' | 'cidrs' | 'rateLimit' | 'quota' | 'expiresAt'>,
) {
  return {
    grants: key.grants ? JSON.stringify(key.grants) : null,
    cidrs: key.cidrs ? JSON.stringify(key.cidrs) : null,
    rate_limit: key.rateLimit ? JSON.stringify(key.rateLimit) : null,
    quota: key.quota ? JSON.stringify(key.quota) : null,
    expires_at: key.expiresAt ?? null,
  }
}

/** A key's row as a record. */
export function fromRow(row: KeyTable): KeyRecord {
  return {
    id: row.id as KeyId,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    scheme: row.scheme as Scheme,
    createdAt: row.created_at,
    createdBy: row.created_by ?? undefined,
    personalUserId: (row.personal_user_id as UserId | null) ?? undefined,
    grants: parseJson(row.grants) as readonly Grant[] | undefined,
    cidrs: parseJson(row.cidrs) as readonly string[] | undefined,
    rateLimit: parseJson(row.rate_limit) as Rate | undefined,
    quota: parseJson(row.quota) as Quota | undefined,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    revokedBy: row.revoked_by ?? undefined,
    suspendedAt: row.suspended_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    lastUsedAddress: row.last_used_address ?? undefined,
    lastUsedAgent: row.last_used_agent ?? undefined,
    lastUsedTargetId: row.last_used_target_id ?? undefined,
    version: row.version,
  }
}

// We wrote these columns ourselves, checked.
function parseJson(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text)
}
