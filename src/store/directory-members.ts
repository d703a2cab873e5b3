import type { OrganizationId } from '../ids.ts'
import { besideIds } from './beside-ids.ts'
import type { Connection, Transaction } from './connection.ts'
import type { GroupRole } from './directory-groups.ts'

export interface DirectoryMemberTable {
  group_id: string
  directory_user_id: string
  organization_id: string
}

/** Of these ids, the ones that are users of the directory. */
export async function existing(
  at: Connection,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const part of inParts(ids)) {
    const rows = await at.query
      .selectFrom('directory_user')
      .select('id')
      .where(besideIds(at, organizationId))
      .where('id', 'in', part)
      .execute()
    for (const row of rows) found.add(row.id)
  }
  return found
}

/** Puts users into a group; returns those that were not in it. */
export async function add(
  tx: Transaction,
  organizationId: OrganizationId,
  groupId: string,
  ids: readonly string[],
): Promise<string[]> {
  const added: string[] = []
  for (const part of inParts(ids)) {
    const rows = await tx.query
      .insertInto('directory_member')
      .values(
        part.map((id) => ({
          group_id: groupId,
          directory_user_id: id,
          organization_id: organizationId,
        })),
      )
      .onConflict((conflict) => conflict.columns(['group_id', 'directory_user_id']).doNothing())
      .returning('directory_user_id')
      .execute()
    added.push(...rows.map((row) => row.directory_user_id))
  }
  return added
}

/** Takes users out of a group, or all (undefined); returns those that were in it. */
export async function remove(
  tx: Transaction,
  organizationId: OrganizationId,
  groupId: string,
  ids: readonly string[] | undefined,
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

/** Takes a user out of every group; the ids of those it was in. */
export async function removeUser(
  tx: Transaction,
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

/** The ids of the members of groups, by group. */
export async function list(
  at: Connection,
  organizationId: OrganizationId,
  groupIds: readonly string[],
): Promise<Map<string, string[]>> {
  const members = new Map<string, string[]>()
  if (groupIds.length === 0) return members
  const rows = await at.query
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

/** A group that a user is in, with what an answer shows of it. */
export interface GroupOfUser {
  readonly groupId: string
  readonly attributes: string
  readonly role: GroupRole | undefined
}

/** The groups that users are in, by user. */
export async function listGroups(
  at: Connection,
  organizationId: OrganizationId,
  userIds: readonly string[],
): Promise<Map<string, GroupOfUser[]>> {
  const groups = new Map<string, GroupOfUser[]>()
  for (const part of inParts(userIds)) {
    const rows = await at.query
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

// SQLite takes at most 32,766 parameters in a statement, three of which make a row here.
const rowsInStatement = 1000

function* inParts(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += rowsInStatement) {
    yield ids.slice(at, at + rowsInStatement)
  }
}
