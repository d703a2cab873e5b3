import { sql } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import { besideIds } from '../../db/beside-ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { GroupRole } from './directory-groups.ts'

export interface DirectoryMemberTable {
  group_id: string
  directory_user_id: string
  organization_id: string
}

interface InGroup {
  readonly organizationId: OrganizationId
  readonly groupId: string
  readonly ids: readonly string[]
}

/**
 * Adds directory users to a group. Returns those that were not in it yet, and the first id that the directory does not
 * know, if any; the caller must then refuse the whole change.
 */
export async function add(
  tx: Tx,
  { organizationId, groupId, ids }: InGroup,
): Promise<{ added: string[]; unknown: string | undefined }> {
  const added: string[] = []
  for (const part of inParts(ids)) {
    const step = tx.engine === 'postgres' ? addAtOnce : addKnown
    const { known, entered } = await step(tx, { organizationId, groupId, ids: part })
    added.push(...entered)
    const unknown = part.find((id) => !known.has(id))
    if (unknown !== undefined) return { added, unknown }
  }
  return { added, unknown: undefined }
}

interface Step {
  readonly known: ReadonlySet<string>
  readonly entered: readonly string[]
}

async function addKnown(tx: Tx, { organizationId, groupId, ids }: InGroup): Promise<Step> {
  const users = await tx.query
    .selectFrom('directory_user')
    .select('id')
    .where(besideIds(tx, organizationId))
    .where('id', 'in', ids)
    .execute()
  const known = new Set(users.map(({ id }) => id))
  const members = [...known].map((id) => {
    return { group_id: groupId, directory_user_id: id, organization_id: organizationId }
  })
  if (members.length === 0) return { known, entered: [] }
  const rows = await tx.query
    .insertInto('directory_member')
    .values(members)
    .onConflict((conflict) => conflict.columns(['group_id', 'directory_user_id']).doNothing())
    .returning('directory_user_id')
    .execute()
  return { known, entered: rows.map((row) => row.directory_user_id) }
}

async function addAtOnce(tx: Tx, { organizationId, groupId, ids }: InGroup): Promise<Step> {
  const { rows } = await sql<{ id: string; entered: boolean }>`
    with known as materialized (
      select id from directory_user
      where organization_id = ${organizationId} and id = any(cast(${ids} as text[]))
    ),
    entered as (
      insert into directory_member (group_id, directory_user_id, organization_id)
      select ${groupId}, id, ${organizationId} from known
      on conflict (group_id, directory_user_id) do nothing
      returning directory_user_id as id
    )
    select known.id, entered.id is not null as entered
    from known left join entered using (id)`.execute(tx.query)
  return {
    known: new Set(rows.map(({ id }) => id)),
    entered: rows.filter(({ entered }) => entered).map(({ id }) => id),
  }
}

/** Removes users from a group, or all its users if `ids` is undefined; returns those that were in it. */
export async function remove(
  tx: Tx,
  {
    organizationId,
    groupId,
    ids,
  }: Omit<InGroup, 'ids'> & { readonly ids: readonly string[] | undefined },
): Promise<string[]> {
  const removed: string[] = []
  for (const part of ids === undefined ? [undefined] : inParts(ids)) {
    let query = tx.query
      .deleteFrom('directory_member')
      .where('organization_id', '=', organizationId)
      .where('group_id', '=', groupId)
    if (part !== undefined) query = query.where('directory_user_id', 'in', part)
    const rows = await query.returning('directory_user_id').execute()
    removed.push(...rows.map((row) => row.directory_user_id))
  }
  return removed
}

/** Removes a user from every group; returns the ids of those groups. */
export async function removeUser(
  tx: Tx,
  organizationId: OrganizationId,
  userId: string,
): Promise<string[]> {
  const rows = await tx.query
    .deleteFrom('directory_member')
    .where('organization_id', '=', organizationId)
    .where('directory_user_id', '=', userId)
    .returning('group_id')
    .execute()
  return rows.map((row) => row.group_id)
}

/** Maps groups' ids to the ids of their members; groups without members are left out. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  groupIds: readonly string[],
): Promise<Map<string, string[]>> {
  const members = new Map<string, string[]>()
  if (groupIds.length === 0) return members
  const rows = await db.query
    .selectFrom('directory_member')
    .select(['group_id', 'directory_user_id'])
    .where('organization_id', '=', organizationId)
    .where('group_id', 'in', groupIds)
    .orderBy('group_id')
    .orderBy('directory_user_id')
    .execute()
  for (const row of rows) {
    const own = members.get(row.group_id)
    if (own === undefined) members.set(row.group_id, [row.directory_user_id])
    else own.push(row.directory_user_id)
  }
  return members
}

/** Lists a page of a group's members by id, after a given id ('' for the first page). */
export async function listPage(
  db: Db,
  group: { readonly organizationId: OrganizationId; readonly id: string },
  page: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db.query
    .selectFrom('directory_member')
    .select('directory_user_id')
    .where('organization_id', '=', group.organizationId)
    .where('group_id', '=', group.id)
    .where('directory_user_id', '>', page.after)
    .orderBy('directory_user_id')
    .limit(page.limit)
    .execute()
  return rows.map((row) => row.directory_user_id)
}

/** A group that a user belongs to; `attributes` is SCIM JSON. */
export interface GroupOfUser {
  readonly groupId: string
  readonly attributes: string
  readonly role: GroupRole | undefined
}

/** Maps users' ids to the groups that they belong to; users without groups are left out. */
export async function listGroups(
  db: Db,
  organizationId: OrganizationId,
  userIds: readonly string[],
): Promise<Map<string, GroupOfUser[]>> {
  const groups = new Map<string, GroupOfUser[]>()
  for (const part of inParts(userIds)) {
    const rows = await db.query
      .selectFrom('directory_member')
      .innerJoin('directory_group', 'directory_group.id', 'directory_member.group_id')
      .select(['directory_user_id', 'group_id', 'attributes', 'role'])
      .where('directory_member.organization_id', '=', organizationId)
      .where('directory_user_id', 'in', part)
      .orderBy('group_id')
      .execute()
    for (const row of rows) {
      const group = {
        groupId: row.group_id,
        attributes: row.attributes,
        role: (row.role as GroupRole | null) ?? undefined,
      }
      const own = groups.get(row.directory_user_id)
      if (own === undefined) groups.set(row.directory_user_id, [group])
      else own.push(group)
    }
  }
  return groups
}

// SQLite accepts at most 32,766 parameters in a statement, and a row uses up to three.
const rowsInStatement = 1000

function* inParts(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += rowsInStatement) {
    yield ids.slice(at, at + rowsInStatement)
  }
}
