import { sql } from 'kysely'
import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import { besideIds } from '../../db/beside-ids.ts'
import { columns, maybe, number, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import { contains } from '../../db/contains.ts'
import type { Db, Tx } from '../../db/db.ts'
import { removeOwn } from '../../db/own-rows.ts'
import type { OrganizationRecord, Plan } from '../organizations/organizations.ts'
import { lockHead } from '../organizations/heads.ts'
import { listByEmailKeys as listPeople } from './users.ts'

export type MembershipRole = 'owner' | 'admin' | 'developer' | 'viewer'
/** How a person became a member; `directory` means that SCIM keeps the membership in sync. */
export type MembershipSource =
  | 'setup'
  | 'invitation'
  | 'operator'
  | 'creation'
  | 'sso'
  | 'directory'

const declared = {
  id: text<Id<'mem'>>(),
  organizationId: text<OrganizationId>(),
  userId: text<UserId>(),
  role: text<MembershipRole>(),
  source: text<MembershipSource>(),
  createdAt: time(),
  deactivatedAt: maybe(time()),
  version: number(),
}
const { fromRow, toRow } = columns(declared, {})

export type MembershipRecord = RecordOf<typeof declared>
export type MembershipTable = TableOf<typeof declared>

export interface MemberRecord extends MembershipRecord {
  readonly name: string
  readonly email: string | undefined
  readonly lastSeenAt: number | undefined
}

/** A page of members, starting after a membership id. */
export interface MemberPage {
  readonly after?: string | undefined
  readonly limit: number
  readonly role?: MembershipRole | undefined
  /** Selects members by their whole membership id, or by part of their name or e-mail address. */
  readonly search?: string | undefined
}

/** Adds a membership; undefined if the person already has one, even a deactivated one. */
export async function insert(
  tx: Tx,
  membership: Pick<MembershipRecord, 'id' | 'organizationId' | 'userId' | 'role' | 'source'> & {
    deactivatedAt?: number | undefined
  },
): Promise<MembershipRecord | undefined> {
  const row = await tx.query
    .insertInto('membership')
    .values(toRow({ deactivatedAt: undefined, ...membership, createdAt: tx.now, version: 1 }))
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Locks a membership (by its id), a person's membership, or both until the transaction ends. SQLite has one writer
 * anyway.
 */
export async function lock(
  tx: Tx,
  organizationId: OrganizationId,
  which: { readonly id?: string | undefined; readonly userId?: string | undefined },
): Promise<void> {
  if (tx.engine === 'sqlite') return
  await tx.query
    .selectFrom('membership')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('id', '=', which.id ?? ''), eb('user_id', '=', which.userId ?? '')]))
    // All transactions use the same order: two owners who change each other's membership wait instead of deadlocking.
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
}

/** Finds a person's membership in an organization, active or not. */
export async function findByUser(
  db: Db,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<MembershipRecord | undefined> {
  const row = await db.query
    .selectFrom('membership')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function find(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<MemberRecord | undefined> {
  const row = await members(db, organizationId).where('membership.id', '=', id).executeTakeFirst()
  return row && memberFromRow(row)
}

/** Lists a page of an organization's members, oldest membership first. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: MemberPage,
): Promise<MemberRecord[]> {
  let query = members(db, organizationId)
    .where('membership.id', '>', page.after ?? '')
    .orderBy('membership.id')
    .limit(page.limit)
  const { role, search } = page
  if (role !== undefined) query = query.where('membership.role', '=', role)
  if (search !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb('membership.id', '=', search),
        contains(db, sql.ref('user.name'), search),
        contains(db, sql.ref('user.email'), search),
      ]),
    )
  }
  return (await query.execute()).map(memberFromRow)
}

/**
 * Finds up to ten active members with one of these e-mail keys. An address that another organization supplied counts
 * only if that organization holds the domain.
 */
export async function listByEmailKeys(
  db: Db,
  organizationId: OrganizationId,
  emailKeys: readonly string[],
): Promise<MembershipRecord[]> {
  if (emailKeys.length === 0) return []
  // Two queries, because the first rarely finds anyone, and SQLite would materialize it if it were a subquery.
  const people = await listPeople(db, emailKeys, organizationId)
  if (people.length === 0) return []
  const rows = await db.query
    .selectFrom('membership')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', people)
    .where('deactivated_at', 'is', null)
    .limit(10)
    .execute()
  return rows.map(fromRow)
}

/** Finds an organization's memberships with these ids; unknown ids are left out. */
export async function listByIds(
  db: Db,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<MembershipRecord[]> {
  if (ids.length === 0) return []
  const rows = await db.query
    .selectFrom('membership')
    .selectAll()
    .where(besideIds(db, organizationId))
    .where('id', 'in', ids)
    .execute()
  return rows.map(fromRow)
}

/** Lists up to 1,000 of a person's memberships in existing organizations, active or not, in slug order. */
export async function listOfUser(
  db: Db,
  userId: UserId,
): Promise<{ membership: MembershipRecord; organization: OrganizationRecord }[]> {
  const rows = await db.query
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .selectAll('membership')
    .select([
      'organization.slug',
      'organization.name as organization_name',
      'organization.plan',
      'organization.settings',
      'organization.version as organization_version',
      'organization.created_at as organization_created_at',
    ])
    .where('membership.user_id', '=', userId)
    .where('organization.deleted_at', 'is', null)
    .orderBy('organization.slug')
    .limit(1000)
    .execute()
  return rows.map((row) => ({
    membership: fromRow(row),
    organization: {
      id: row.organization_id as OrganizationId,
      slug: row.slug,
      name: row.organization_name,
      plan: row.plan as Plan,
      settings: JSON.parse(row.settings) as Record<string, unknown>,
      version: row.organization_version,
      createdAt: row.organization_created_at,
    },
  }))
}

/** Changes a membership; undefined if there is no such membership, or none at that version. */
export async function update(
  tx: Tx,
  {
    organizationId,
    id,
    change,
  }: {
    readonly organizationId: OrganizationId
    readonly id: string
    readonly change: {
      role?: MembershipRole | undefined
      /** The person to whom the membership is transferred. */
      userId?: UserId | undefined
      source?: MembershipSource | undefined
      /** null reactivates the membership. */
      deactivatedAt?: number | null | undefined
      expectedVersion?: number | undefined
    }
  },
): Promise<MembershipRecord | undefined> {
  let query = tx.query
    .updateTable('membership')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
  if (change.role !== undefined) query = query.set({ role: change.role })
  if (change.userId !== undefined) query = query.set({ user_id: change.userId })
  if (change.source !== undefined) query = query.set({ source: change.source })
  if (change.deactivatedAt !== undefined) {
    query = query.set({ deactivated_at: change.deactivatedAt })
  }
  if (change.expectedVersion !== undefined) {
    query = query.where('version', '=', change.expectedVersion)
  }
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** Gives several memberships a role; at most a few hundred per call. */
export async function giveRole(
  tx: Tx,
  {
    organizationId,
    ids,
    role,
  }: {
    readonly organizationId: OrganizationId
    readonly ids: readonly string[]
    readonly role: MembershipRole
  },
): Promise<void> {
  if (ids.length === 0) return
  await tx.query
    .updateTable('membership')
    .set((eb) => ({ role, version: eb('version', '+', 1) }))
    .where(besideIds(tx, organizationId))
    .where('id', 'in', ids)
    .execute()
}

export async function remove(tx: Tx, organizationId: OrganizationId, id: string): Promise<boolean> {
  return await removeOwn(tx, 'membership', { organizationId, id })
}

/**
 * Counts an organization's active owners. It first locks the organization's head, so that of two transactions that each
 * remove an owner, the second one sees the first one's change.
 */
export async function countOwners(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await lockHead(tx, organizationId)
  const row = await tx.query
    .selectFrom('membership')
    .innerJoin('user', 'user.id', 'membership.user_id')
    .select((eb) => eb.fn.countAll<number>().as('owners'))
    .where('membership.organization_id', '=', organizationId)
    .where('membership.role', '=', 'owner')
    .where('membership.deactivated_at', 'is', null)
    .where('user.deactivated_at', 'is', null)
    .executeTakeFirstOrThrow()
  return row.owners
}

function members(db: Db, organizationId: OrganizationId) {
  return db.query
    .selectFrom('membership')
    .innerJoin('user', 'user.id', 'membership.user_id')
    .selectAll('membership')
    .select(['user.name', 'user.email', 'user.last_seen_at'])
    .where('membership.organization_id', '=', organizationId)
}

function memberFromRow(
  row: MembershipTable & { name: string; email: string | null; last_seen_at: number | null },
): MemberRecord {
  return {
    ...fromRow(row),
    name: row.name,
    email: row.email ?? undefined,
    lastSeenAt: row.last_seen_at ?? undefined,
  }
}
