import { Problem } from '../errors.ts'
import { directoryMembers, type DirectoryGroupRecord, type Tx } from '../store/index.ts'

/** A change to a group's members; changes apply in the requested order. */
export type MemberChange =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly ids: readonly string[] }
  | { readonly kind: 'clear' }
  /** Removes the members for whose ids `fits` returns true. */
  | { readonly kind: 'removeWhere'; readonly fits: (id: string) => boolean }

interface Moved<Ids> {
  readonly added: Ids
  readonly removed: Ids
}

/** Applies changes in order and returns their net effect: a member added and removed again is in neither set. */
export async function changeMembers(
  tx: Tx,
  group: DirectoryGroupRecord,
  changes: readonly MemberChange[],
): Promise<Moved<Set<string>>> {
  const added = new Set<string>()
  const removed = new Set<string>()
  for (const change of changes) {
    const step = await applyChange(tx, group, change)
    for (const id of step.removed) if (!added.delete(id)) removed.add(id)
    for (const id of step.added) if (!removed.delete(id)) added.add(id)
  }
  return { added, removed }
}

export async function membersOf(tx: Tx, group: DirectoryGroupRecord): Promise<string[]> {
  const members = await directoryMembers.list(tx, group.organizationId, [group.id])
  return members.get(group.id) ?? []
}

/**
 * Removes the members with these ids from a group, or all members if `ids` is undefined; returns the ids of the members
 * that were removed.
 */
export async function removeMembers(
  tx: Tx,
  { organizationId, id: groupId }: DirectoryGroupRecord,
  ids: readonly string[] | undefined,
): Promise<string[]> {
  return await directoryMembers.remove(tx, { organizationId, groupId, ids })
}

async function applyChange(
  tx: Tx,
  group: DirectoryGroupRecord,
  change: MemberChange,
): Promise<Moved<readonly string[]>> {
  switch (change.kind) {
    case 'add':
      return { added: await addKnown(tx, group, change.ids), removed: [] }
    case 'remove':
      return { added: [], removed: await removeMembers(tx, group, change.ids) }
    case 'clear':
      return { added: [], removed: await removeMembers(tx, group, undefined) }
    case 'replace':
      return await replaceMembers(tx, group, change.ids)
    case 'removeWhere': {
      const fitting = (await membersOf(tx, group)).filter(change.fits)
      return { added: [], removed: await removeMembers(tx, group, fitting) }
    }
    default:
      return change satisfies never
  }
}

async function replaceMembers(
  tx: Tx,
  group: DirectoryGroupRecord,
  ids: readonly string[],
): Promise<Moved<readonly string[]>> {
  const before = new Set(await membersOf(tx, group))
  const after = new Set(ids)
  const removed = await removeMembers(tx, group, [...before.difference(after)])
  const added = await addKnown(tx, group, [...after.difference(before)])
  return { added, removed }
}

async function addKnown(
  tx: Tx,
  group: DirectoryGroupRecord,
  ids: readonly string[],
): Promise<string[]> {
  const { added, unknown } = await directoryMembers.add(tx, {
    organizationId: group.organizationId,
    groupId: group.id,
    ids,
  })
  if (unknown !== undefined) {
    throw new Problem('invalid_input', `There is no user ${unknown.slice(0, 60)} to be a member.`)
  }
  return added
}
