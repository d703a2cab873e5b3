import { sql } from 'kysely'
import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { removeOwn, type OwnKey } from '../../db/own-rows.ts'
import { addToCount, takePosition } from './directory-counts.ts'
import { removeUser } from './directory-members.ts'
import { rowById, rowsByIds } from '../../db/rows-by-id.ts'

export interface DirectoryUserTable {
  id: string
  organization_id: string
  user_id: string
  position: number
  user_name_key: string
  external_id: string | null
  shared_external_id: string
  active: number
  attributes: string
  folded: string
  version: number
  created_at: number
  modified_at: number
}

export interface DirectoryEmailTable {
  organization_id: string
  value_key: string
  directory_user_id: string
}

export interface DirectoryDepartedTable {
  organization_id: string
  external_id: string
  directory_user_id: string
  user_id: string
  departed_at: number
}

/** What the directory sent about a user, in the forms used for storage and search. */
export interface DirectoryUserData {
  readonly userNameKey: string
  readonly externalId: string | undefined
  readonly active: boolean
  /** The attributes as SCIM JSON. */
  readonly attributes: string
  /** The attributes as case-folded JSON, for filters. */
  readonly folded: string
  readonly emailKeys: readonly string[]
}

/** A directory user as stored; its id is the membership's id. */
export interface DirectoryUserRecord extends Omit<DirectoryUserData, 'emailKeys' | 'folded'> {
  readonly id: Id<'mem'>
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly position: number
  readonly version: number
  readonly createdAt: number
  readonly modifiedAt: number
}

/** Adds a user; undefined if the user name or the external id is taken. */
export async function insert(
  tx: Tx,
  user: { id: Id<'mem'>; organizationId: OrganizationId; userId: UserId; data: DirectoryUserData },
): Promise<DirectoryUserRecord | undefined> {
  const position = await takePosition(tx, user.organizationId)
  const row = await tx.query
    .insertInto('directory_user')
    .values({
      id: user.id,
      organization_id: user.organizationId,
      user_id: user.userId,
      position,
      ...columnsOf(user.data),
      shared_external_id: '',
      version: 1,
      created_at: tx.now,
      modified_at: tx.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(columns)
    .executeTakeFirst()
  if (!row) return undefined
  await addToCount(tx, {
    table: 'directory_user',
    organizationId: user.organizationId,
    position,
    amount: 1,
  })
  await insertEmails(tx, {
    organizationId: user.organizationId,
    id: user.id,
    keys: user.data.emailKeys,
  })
  return fromRow(row)
}

/** Replaces what the directory sent about a user; undefined if there is no such user at that version. */
export async function update(
  tx: Tx,
  before: DirectoryUserRecord,
  data: DirectoryUserData,
): Promise<DirectoryUserRecord | undefined> {
  const row = await tx.query
    .updateTable('directory_user')
    .set((eb) => ({
      ...columnsOf(data),
      // Users who have shared an external id since before ids had to be unique may keep it; a new one must be unique.
      ...(data.externalId === before.externalId ? {} : { shared_external_id: '' }),
      user_id: before.userId,
      modified_at: tx.now,
      version: eb('version', '+', 1),
    }))
    .where('organization_id', '=', before.organizationId)
    .where('id', '=', before.id)
    .where('version', '=', before.version)
    .returning(columns)
    .executeTakeFirst()
  if (!row) return undefined
  await tx.query
    .deleteFrom('directory_email')
    .where('organization_id', '=', before.organizationId)
    .where('directory_user_id', '=', before.id)
    .execute()
  await insertEmails(tx, {
    organizationId: before.organizationId,
    id: before.id,
    keys: data.emailKeys,
  })
  return fromRow(row)
}

/** Deletes a user with its e-mail addresses and group memberships; returns the ids of its groups. */
export async function remove(tx: Tx, user: DirectoryUserRecord): Promise<string[]> {
  await tx.query
    .deleteFrom('directory_email')
    .where('organization_id', '=', user.organizationId)
    .where('directory_user_id', '=', user.id)
    .execute()
  const groups = await removeUser(tx, user.organizationId, user.id)
  await removeOwn(tx, 'directory_user', user)
  await addToCount(tx, {
    table: 'directory_user',
    organizationId: user.organizationId,
    position: user.position,
    amount: -1,
  })
  return groups
}

/**
 * Finds the user with this id in an organization. With `lock`, the directory's row and the user's stay locked until the
 * transaction ends.
 */
export async function find(
  db: Db,
  { organizationId, id, lock = false }: OwnKey & { readonly lock?: boolean | undefined },
): Promise<DirectoryUserRecord | undefined> {
  const row = await rowById<Row>(db, {
    from: { table: 'directory_user', columns, lock },
    organizationId,
    id,
  })
  return row && fromRow(row)
}

/** Finds a user by the normalized form of their user name. */
export async function findByName(
  db: Db,
  organizationId: OrganizationId,
  userNameKey: string,
): Promise<DirectoryUserRecord | undefined> {
  const row = await db.query
    .selectFrom('directory_user')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('user_name_key', '=', userNameKey)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Maps each of these ids to its user; unknown ids are left out. */
export async function findAll(
  db: Db,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<Map<string, DirectoryUserRecord>> {
  const rows = await rowsByIds<Row>(db, {
    from: { table: 'directory_user', columns },
    organizationId,
    ids,
  })
  return new Map(rows.map((row) => [row.id, fromRow(row)]))
}

/** Finds up to ten users with this external id or this normalized user name; with both, if both are given. */
export async function listByIdentifier(
  db: Db,
  organizationId: OrganizationId,
  by: { externalId?: string; userNameKey?: string },
): Promise<DirectoryUserRecord[]> {
  let query = db.query
    .selectFrom('directory_user')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .limit(10)
  if (by.externalId !== undefined) query = query.where('external_id', '=', by.externalId)
  if (by.userNameKey !== undefined) query = query.where('user_name_key', '=', by.userNameKey)
  return (await query.execute()).map(fromRow)
}

/** Finds an owner whose membership is still active although the directory deactivated the user. */
export async function findKeptOwner(
  db: Db,
  organizationId: OrganizationId,
): Promise<{ id: string; name: string } | undefined> {
  return await db.query
    .selectFrom('membership')
    .innerJoin('directory_user', 'directory_user.id', 'membership.id')
    .innerJoin('user', 'user.id', 'membership.user_id')
    .select(['membership.id', 'user.name'])
    .where('membership.organization_id', '=', organizationId)
    .where('membership.role', '=', 'owner')
    .where('membership.deactivated_at', 'is', null)
    .where('directory_user.active', '=', 0)
    .limit(1)
    .executeTakeFirst()
}

/**
 * Remembers a deleted user by their external id, so that the same person can be restored later; does nothing if they
 * have none.
 */
export async function rememberDeparted(tx: Tx, user: DirectoryUserRecord): Promise<void> {
  if (user.externalId === undefined) return
  const departed = {
    directory_user_id: user.id,
    user_id: user.userId,
    departed_at: tx.now,
  }
  await tx.query
    .insertInto('directory_departed')
    .values({
      organization_id: user.organizationId,
      external_id: user.externalId,
      ...departed,
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'external_id']).doUpdateSet(departed),
    )
    .execute()
}

/** Returns the deleted user who had this external id, and forgets them: an external id restores a person only once. */
export async function takeDeparted(
  tx: Tx,
  organizationId: OrganizationId,
  externalId: string,
): Promise<{ id: Id<'mem'>; userId: UserId } | undefined> {
  const row = await tx.query
    .deleteFrom('directory_departed')
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .returning(['directory_user_id', 'user_id'])
    .executeTakeFirst()
  return row && { id: row.directory_user_id as Id<'mem'>, userId: row.user_id as UserId }
}

const columns = [
  'id',
  'organization_id',
  'user_id',
  'position',
  'user_name_key',
  'external_id',
  'active',
  'attributes',
  'version',
  'created_at',
  'modified_at',
] as const

type Row = Pick<DirectoryUserTable, (typeof columns)[number]>

async function insertEmails(
  tx: Tx,
  {
    organizationId,
    id,
    keys,
  }: {
    readonly organizationId: OrganizationId
    readonly id: string
    readonly keys: readonly string[]
  },
): Promise<void> {
  if (keys.length === 0) return
  await tx.query
    .insertInto('directory_email')
    .values(
      keys.map((key) => ({
        organization_id: organizationId,
        value_key: key,
        directory_user_id: id,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function columnsOf(data: DirectoryUserData) {
  return {
    user_name_key: data.userNameKey,
    external_id: data.externalId ?? null,
    active: data.active ? 1 : 0,
    attributes: data.attributes,
    folded: data.folded,
  }
}

function fromRow(row: Row): DirectoryUserRecord {
  return {
    id: row.id as Id<'mem'>,
    organizationId: row.organization_id as OrganizationId,
    userId: row.user_id as UserId,
    position: row.position,
    userNameKey: row.user_name_key,
    externalId: row.external_id ?? undefined,
    active: row.active === 1,
    attributes: row.attributes,
    version: row.version,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}

/**
 * How many members have the state (active or inactive) that the directory last sent, how many have the other state, and
 * how many have no user in the directory.
 */
export interface InStep {
  readonly inStep: number
  readonly different: number
  readonly notSent: number
}

export async function countInStep(db: Db, organizationId: OrganizationId): Promise<InStep> {
  const { rows } = await sql<InStep>`
    select count(case when (u.active = 1) = (m.deactivated_at is null) then 1 end) as "inStep",
      count(case when (u.active = 1) <> (m.deactivated_at is null) then 1 end) as "different",
      count(case when u.id is null then 1 end) as "notSent"
    from membership as m left join directory_user as u on u.id = m.id
    where m.organization_id = ${organizationId}`.execute(db.query)
  return rows[0] ?? { inStep: 0, different: 0, notSent: 0 }
}
