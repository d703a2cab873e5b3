import type { Id, OrganizationId } from '../../../ids.ts'
import { besideIds } from '../../db/beside-ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { removeOwn, type OwnKey } from '../../db/own-rows.ts'
import { addToCount, takePosition } from './directory-counts.ts'
import { rowById, rowsByIds } from '../../db/rows-by-id.ts'

export interface DirectoryGroupTable {
  id: string
  organization_id: string
  position: number
  display_name_key: string
  external_id: string | null
  attributes: string
  folded: string
  role: string | null
  members: number
  version: number
  created_at: number
  modified_at: number
}

/** Roles that a group can grant; a directory can never grant owner. */
export type GroupRole = 'admin' | 'developer' | 'viewer'

/** What the directory sent about a group, in the forms used for storage and search. */
export interface DirectoryGroupData {
  readonly displayNameKey: string
  readonly externalId: string | undefined
  /** The attributes as SCIM JSON, without members. */
  readonly attributes: string
  /** The attributes as case-folded JSON, for filters. */
  readonly folded: string
}

export interface DirectoryGroupRecord extends Omit<DirectoryGroupData, 'folded'> {
  readonly id: Id<'grp'>
  readonly organizationId: OrganizationId
  readonly position: number
  /** The role that the group grants to its members, if any. */
  readonly role: GroupRole | undefined
  readonly members: number
  readonly version: number
  readonly createdAt: number
  readonly modifiedAt: number
}

export async function insert(
  tx: Tx,
  group: { id: Id<'grp'>; organizationId: OrganizationId; data: DirectoryGroupData },
): Promise<DirectoryGroupRecord> {
  const position = await takePosition(tx, group.organizationId)
  const row = await tx.query
    .insertInto('directory_group')
    .values({
      id: group.id,
      organization_id: group.organizationId,
      position,
      ...columnsOf(group.data),
      role: null,
      members: 0,
      version: 1,
      created_at: tx.now,
      modified_at: tx.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  await addToCount(tx, {
    table: 'directory_group',
    organizationId: group.organizationId,
    position,
    amount: 1,
  })
  return fromRow(row)
}

export async function update(
  tx: Tx,
  before: DirectoryGroupRecord,
  change: {
    data?: DirectoryGroupData | undefined
    /** null removes the role. */
    role?: GroupRole | null | undefined
    members?: number | undefined
  },
): Promise<DirectoryGroupRecord> {
  let query = tx.query
    .updateTable('directory_group')
    .set((eb) => ({ modified_at: tx.now, version: eb('version', '+', 1) }))
    .where('organization_id', '=', before.organizationId)
    .where('id', '=', before.id)
  if (change.data !== undefined) query = query.set(columnsOf(change.data))
  if (change.role !== undefined) query = query.set({ role: change.role })
  if (change.members !== undefined) query = query.set({ members: change.members })
  return fromRow(await query.returning(columns).executeTakeFirstOrThrow())
}

/** Lowers the member count of each of these groups by one, after the same member was removed from all of them. */
export async function countMemberLess(
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await tx.query
    .updateTable('directory_group')
    .set((eb) => ({
      members: eb('members', '-', 1),
      modified_at: tx.now,
      version: eb('version', '+', 1),
    }))
    .where(besideIds(tx, organizationId))
    .where('id', 'in', ids)
    .execute()
}

/** Deletes a group, whose members must have been removed first. */
export async function remove(tx: Tx, group: DirectoryGroupRecord): Promise<void> {
  await removeOwn(tx, 'directory_group', group)
  await addToCount(tx, {
    table: 'directory_group',
    organizationId: group.organizationId,
    position: group.position,
    amount: -1,
  })
}

/**
 * Finds the group with this id in an organization. With `lock`, the directory's row and the group's stay locked until
 * the transaction ends.
 */
export async function find(
  db: Db,
  { organizationId, id, lock = false }: OwnKey & { readonly lock?: boolean | undefined },
): Promise<DirectoryGroupRecord | undefined> {
  const row = await rowById<Row>(db, {
    from: { table: 'directory_group', columns, lock },
    organizationId,
    id,
  })
  return row && fromRow(row)
}

/** Maps each of these ids to its group; unknown ids are left out. */
export async function findAll(
  db: Db,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<Map<string, DirectoryGroupRecord>> {
  const rows = await rowsByIds<Row>(db, {
    from: { table: 'directory_group', columns },
    organizationId,
    ids,
  })
  return new Map(rows.map((row) => [row.id, fromRow(row)]))
}

/** Finds up to 100 groups with this name: a directory may have several, which differ in their external ids. */
export async function listByName(
  db: Db,
  organizationId: OrganizationId,
  displayNameKey: string,
): Promise<DirectoryGroupRecord[]> {
  const rows = await db.query
    .selectFrom('directory_group')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('display_name_key', '=', displayNameKey)
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

const maxNames = 10_000

/** Lists up to 10,000 groups in order of creation, with their names and the roles they grant. */
export async function listNames(
  at: Db,
  organizationId: OrganizationId,
): Promise<{ id: string; name: string; role: GroupRole | undefined }[]> {
  const rows = await at.query
    .selectFrom('directory_group')
    .select(['id', 'attributes', 'role'])
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .limit(maxNames)
    .execute()
  return rows.map(({ id, attributes, role }) => {
    const { displayName } = JSON.parse(attributes) as { displayName?: unknown }
    return { id, name: String(displayName), role: (role as GroupRole | null) ?? undefined }
  })
}

/** Lists the distinct roles that an organization's groups grant. */
export async function listRoles(at: Db, organizationId: OrganizationId): Promise<GroupRole[]> {
  const rows = await at.query
    .selectFrom('directory_group')
    .select('role')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('role', 'is not', null)
    .execute()
  return rows.map(({ role }) => role as GroupRole)
}

const columns = [
  'id',
  'organization_id',
  'position',
  'display_name_key',
  'external_id',
  'attributes',
  'role',
  'members',
  'version',
  'created_at',
  'modified_at',
] as const

type Row = Pick<DirectoryGroupTable, (typeof columns)[number]>

function columnsOf(data: DirectoryGroupData) {
  return {
    display_name_key: data.displayNameKey,
    external_id: data.externalId ?? null,
    attributes: data.attributes,
    folded: data.folded,
  }
}

function fromRow(row: Row): DirectoryGroupRecord {
  return {
    id: row.id as Id<'grp'>,
    organizationId: row.organization_id as OrganizationId,
    position: row.position,
    displayNameKey: row.display_name_key,
    externalId: row.external_id ?? undefined,
    attributes: row.attributes,
    role: (row.role as GroupRole | null) ?? undefined,
    members: row.members,
    version: row.version,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}
