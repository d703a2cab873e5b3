import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import { limitLocks } from '../../db/brief-locks.ts'
import { columns, lastUse, json, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'

export type AccessTokenId = Id<'tok'>

const declared = {
  id: text<AccessTokenId>(),
  /** Undefined for the operator's own tokens. */
  organizationId: maybe(text<OrganizationId>()),
  name: text(),
  hint: text(),
  permissions: json<readonly string[]>(),
  /** Undefined means every address. */
  cidrs: maybe(json<readonly string[]>()),
  createdAt: time(),
  createdBy: maybe(text()),
  /**
   * The member whose role limits the token: the creator or, if the token was issued with another token, the member who
   * limits that other token. Undefined if no member limits the token.
   */
  creatorUserId: maybe(text<UserId>()),
  expiresAt: maybe(time()),
  ...lastUse,
  revokedAt: maybe(time()),
}

const hidden = {
  digest: text(),
  expiringAnnouncedAt: maybe(time()),
  revokedBy: maybe(text()),
}
const { fromRow, toRow } = columns(declared, hidden)

/** An access token, with a hint instead of the token itself. Times are milliseconds since 1970. */
export type AccessTokenRecord = RecordOf<typeof declared>
export type AccessTokenTable = TableOf<typeof declared & typeof hidden>

/** A token, with the role that limits its permissions. */
export interface KnownAccessToken {
  readonly token: AccessTokenRecord
  readonly organizationSlug: string | undefined
  /**
   * The role of the member who limits the token; undefined if no member does, or if that member is no longer active.
   */
  readonly creatorRole: string | undefined
}

type NewToken = Pick<
  AccessTokenRecord,
  | 'id'
  | 'organizationId'
  | 'name'
  | 'hint'
  | 'permissions'
  | 'cidrs'
  | 'createdBy'
  | 'creatorUserId'
  | 'expiresAt'
> & { readonly digest: string }

export async function insert(tx: Tx, token: NewToken): Promise<AccessTokenRecord> {
  const row = await tx.query
    .insertInto('access_token')
    .values(toRow({ ...token, createdAt: tx.now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/**
 * Counts an organization's tokens that are neither revoked nor expired; without an organization, counts the operator's.
 */
export async function countActive(
  tx: Tx,
  organizationId: OrganizationId | undefined,
): Promise<number> {
  const { active } = await tx.query
    .selectFrom('access_token')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('organization_id', 'is not distinct from', organizationId ?? null)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', tx.now)]))
    .executeTakeFirstOrThrow()
  return active
}

/**
 * Finds the token with this digest, active or not, unless its organization is deleted. A caller that presents a token
 * has not named its organization, so this look-up needs none.
 */
export async function findByDigest(db: Db, digest: string): Promise<KnownAccessToken | undefined> {
  const row = await withOwners(db).where('access_token.digest', '=', digest).executeTakeFirst()
  return row && known(row)
}

/**
 * Like `findByDigest`, but by id and within an organization or, without an organization, among the operator's tokens.
 */
export async function findKnown(
  db: Db,
  organizationId: OrganizationId | undefined,
  id: string,
): Promise<KnownAccessToken | undefined> {
  const row = await withOwners(db)
    .where('access_token.organization_id', 'is not distinct from', organizationId ?? null)
    .where('access_token.id', '=', id)
    .executeTakeFirst()
  return row && known(row)
}

/** Finds a token of any organization by its id, for the operator. */
export async function find(db: Db, id: string): Promise<AccessTokenRecord | undefined> {
  const row = await db.query
    .selectFrom('access_token')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Lists a page of an organization's tokens or, without an organization, of the operator's: newest first, including
 * revoked and expired ones.
 */
export async function list(
  db: Db,
  organizationId: OrganizationId | undefined,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<AccessTokenRecord[]> {
  const rows = await db.query
    .selectFrom('access_token')
    .selectAll()
    .where('organization_id', 'is not distinct from', organizationId ?? null)
    .$if(page.before !== undefined, (query) => query.where('id', '<', page.before ?? ''))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

/** Locks a token's row against changes until the transaction ends; a no-op on SQLite, which has one writer anyway. */
export async function lock(tx: Tx, organizationId: OrganizationId, id: string): Promise<void> {
  if (tx.engine === 'sqlite') return
  await tx.query
    .selectFrom('access_token')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forShare()
    .execute()
}

/**
 * Revokes a token and every token issued with it, directly or indirectly. Returns the revoked tokens, the given one
 * first; empty if that one does not exist or was already revoked.
 */
export async function revoke(
  tx: Tx,
  token: { readonly organizationId: OrganizationId | undefined; readonly id: string },
  revokedBy: string | undefined,
): Promise<AccessTokenRecord[]> {
  const { organizationId, id } = token
  const by = { organizationId, revokedBy }
  const gone = await revokeWhere(tx, by, (query) => query.where('id', '=', id))
  // A revoked token can't issue another, so no new token can appear among those issued with the tokens already revoked.
  let issuers = gone.map((one) => one.id)
  while (issuers.length > 0) {
    const from = issuers
    const next = await revokeWhere(tx, by, (query) => query.where('created_by', 'in', from))
    gone.push(...next)
    issuers = next.map((one) => one.id)
  }
  return gone
}

/** Revokes the tokens that a member's role limits (see `creatorUserId`); returns the revoked tokens. */
export async function revokeBoundTo(
  tx: Tx,
  member: { readonly organizationId: OrganizationId; readonly userId: UserId },
  revokedBy: string | undefined,
): Promise<AccessTokenRecord[]> {
  const { organizationId, userId } = member
  const by = { organizationId, revokedBy }
  return await revokeWhere(tx, by, (query) => query.where('creator_user_id', '=', userId))
}

async function revokeWhere(
  tx: Tx,
  by: {
    readonly organizationId: OrganizationId | undefined
    readonly revokedBy: string | undefined
  },
  narrowed: (query: ReturnType<typeof revocation>) => ReturnType<typeof revocation>,
): Promise<AccessTokenRecord[]> {
  const rows = await narrowed(revocation(tx, by)).returningAll().execute()
  return rows.map(fromRow)
}

function revocation(
  tx: Tx,
  by: {
    readonly organizationId: OrganizationId | undefined
    readonly revokedBy: string | undefined
  },
) {
  return tx.query
    .updateTable('access_token')
    .set({ revoked_at: tx.now, revoked_by: by.revokedBy ?? null })
    .where('organization_id', 'is not distinct from', by.organizationId ?? null)
    .where('revoked_at', 'is', null)
}

export async function noteUse(
  tx: Tx,
  use: { id: string; at: number; address: string | undefined; agent: string | undefined },
): Promise<void> {
  await limitLocks(tx)
  await tx.query
    .updateTable('access_token')
    .set(toRow({ lastUsedAt: use.at, lastUsedAddress: use.address, lastUsedAgent: use.agent }))
    .where('id', '=', use.id)
    .execute()
}

/**
 * Takes up to `limit` active tokens that expire before `before` and have not been announced, and marks them as
 * announced.
 */
export async function takeExpiring(
  tx: Tx,
  before: number,
  limit: number,
): Promise<AccessTokenRecord[]> {
  const rows = await tx.query
    .updateTable('access_token')
    .set({ expiring_announced_at: tx.now })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('access_token')
        .select('id')
        .where('revoked_at', 'is', null)
        .where('expiring_announced_at', 'is', null)
        .where('expires_at', '<', before)
        .where('expires_at', '>', tx.now)
        .limit(limit),
    )
    .where('expiring_announced_at', 'is', null)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/** Lists an organization's unrevoked tokens that expire between two times, soonest first. */
export async function listExpiring(
  db: Db,
  organizationId: OrganizationId,
  between: { readonly after: number; readonly before: number; readonly limit: number },
): Promise<AccessTokenRecord[]> {
  const rows = await db.query
    .selectFrom('access_token')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', between.after)
    .where('expires_at', '<', between.before)
    .orderBy('expires_at')
    .limit(between.limit)
    .execute()
  return rows.map(fromRow)
}

function withOwners(db: Db) {
  return db.query
    .selectFrom('access_token')
    .leftJoin('organization', 'organization.id', 'access_token.organization_id')
    .leftJoin('membership', (join) =>
      join
        .onRef('membership.organization_id', '=', 'access_token.organization_id')
        .onRef('membership.user_id', '=', 'access_token.creator_user_id')
        .on('membership.deactivated_at', 'is', null),
    )
    .leftJoin('user', (join) =>
      join
        .onRef('user.id', '=', 'access_token.creator_user_id')
        .on('user.deactivated_at', 'is', null),
    )
    .selectAll('access_token')
    .select(['organization.slug', 'membership.role', 'user.id as active_user_id'])
    .where((eb) =>
      eb.or([
        eb('access_token.organization_id', 'is', null),
        eb.and([eb('organization.id', 'is not', null), eb('organization.deleted_at', 'is', null)]),
      ]),
    )
}

function known(
  row: AccessTokenTable & {
    slug: string | null
    role: string | null
    active_user_id: string | null
  },
): KnownAccessToken {
  const isActive = row.active_user_id !== null
  return {
    token: fromRow(row),
    organizationSlug: row.slug ?? undefined,
    creatorRole: isActive ? (row.role ?? undefined) : undefined,
  }
}
