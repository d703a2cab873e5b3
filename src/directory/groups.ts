import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import {
  directoryCounts,
  directoryGroups,
  directoryMembers,
  type Actor,
  type DirectoryGroupData,
  type DirectoryGroupRecord,
  type GroupRole,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'
import type { DirectoryDeps } from './deps.ts'
import type { DirectoryRoles, RoleChange } from './roles.ts'
import type { DirectoryTokens } from './tokens.ts'

/** A change of a group's members, in the order in which it was asked for. */
export type MemberChange =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly ids: readonly string[] }
  | { readonly kind: 'clear' }
  /** Takes out those members that fit. */
  | { readonly kind: 'removeWhere'; readonly fits: (id: string) => boolean }

/** What the directory wants a group to be. */
export interface DirectoryGroupInput {
  readonly data: DirectoryGroupData
  readonly members: readonly MemberChange[]
}

/** Groups of a directory: create, read, change, delete; and the roles they give. */
export interface DirectoryGroups {
  /** `conflict` for a name that a group has already, unless both have external ids and they differ; `invalid_input` for unknown members. */
  create(
    organizationId: OrganizationId,
    wish: DirectoryGroupInput,
    actor: Actor,
  ): Promise<DirectoryGroupRecord>
  /** `not_found`. */
  get(organizationId: OrganizationId, id: string): Promise<DirectoryGroupRecord>
  /** Those with these ids, in this order. */
  getAll(organizationId: OrganizationId, ids: readonly string[]): Promise<DirectoryGroupRecord[]>
  /** The ids of the members of groups. */
  listMembers(
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<Map<string, string[]>>
  /** The next ids of a group's members in their order, behind one ('' for the first). */
  memberPage(group: DirectoryGroupRecord, after: string, limit: number): Promise<string[]>
  /** Makes of a group what `next` says, all or nothing; its members are changed without being loaded. */
  change(
    organizationId: OrganizationId,
    id: string,
    next: (current: DirectoryGroupRecord) => DirectoryGroupInput,
    actor: Actor,
  ): Promise<DirectoryGroupRecord>
  /** `not_found`. */
  remove(
    organizationId: OrganizationId,
    id: string,
    check: (current: DirectoryGroupRecord) => void,
    actor: Actor,
  ): Promise<void>
  /** Maps a group to a role, or to none; answers whose role changed. `not_found`. */
  setRole(
    organizationId: OrganizationId,
    id: string,
    role: GroupRole | undefined,
    actor: Actor,
  ): Promise<{ group: DirectoryGroupRecord; changed: number }>
  /** Whose role would change. `not_found`. */
  previewRole(
    organizationId: OrganizationId,
    id: string,
    role: GroupRole | undefined,
  ): Promise<RoleChange[]>
}

/** Opens the groups' rules. */
export function createDirectoryGroups(
  { store }: Pick<DirectoryDeps, 'store'>,
  rules: { readonly tokens: Pick<DirectoryTokens, 'whileGood'>; readonly roles: DirectoryRoles },
): DirectoryGroups {
  const { tokens, roles } = rules

  async function loadIn(
    tx: Tx,
    organizationId: OrganizationId,
    id: string,
  ): Promise<DirectoryGroupRecord> {
    const found = await directoryGroups.find(tx, { organizationId, id, lock: true })
    if (!found) throw notFound(id)
    return found
  }

  async function changeMembers(
    tx: Tx,
    group: DirectoryGroupRecord,
    changes: readonly MemberChange[],
  ): Promise<{ added: Set<string>; removed: Set<string> }> {
    const done = { added: new Set<string>(), removed: new Set<string>() }
    for (const change of changes) {
      const step = await applyChange(tx, group, change)
      for (const id of step.removed) if (!done.added.delete(id)) done.removed.add(id)
      for (const id of step.added) if (!done.removed.delete(id)) done.added.add(id)
    }
    return done
  }

  // Changed roles end sessions: that is answered when the other nodes know it.
  async function confirmed<T>(
    queue: OrganizationId,
    actor: Actor,
    work: (tx: Tx) => Promise<{ result: T; changed: number }>,
  ): Promise<T> {
    const { result } = await store.transactionConfirmed(
      async (tx) => await tokens.whileGood(tx, queue, actor, async () => await work(tx)),
      { isNeeded: ({ changed }) => changed > 0, queue },
    )
    return result.result
  }

  return {
    create: async (organizationId, wish, actor) =>
      await confirmed(organizationId, actor, async (tx) => {
        // Nothing but the question below keeps two groups of one name apart.
        await directoryCounts.hold(tx, organizationId)
        await refuseTaken(tx, organizationId, wish.data, undefined)
        const made = await directoryGroups.insert(tx, {
          id: createId('grp', tx.now),
          organizationId,
          data: wish.data,
        })
        const { added } = await changeMembers(tx, made, wish.members)
        const group =
          added.size === 0 ? made : await directoryGroups.update(tx, made, { members: added.size })
        announce(tx, 'created', group, { added: added.size }, actor)
        return { result: group, changed: 0 }
      }),
    async get(organizationId, id) {
      const group = await directoryGroups.find(store, { organizationId, id })
      if (!group) throw notFound(id)
      return group
    },
    async getAll(organizationId, ids) {
      const found = await directoryGroups.findAll(store, organizationId, ids)
      return ids.flatMap((id) => found.get(id) ?? [])
    },
    listMembers: async (organizationId, ids) =>
      await directoryMembers.list(store, organizationId, ids),
    memberPage: async (group, after, limit) =>
      await directoryMembers.listPage(store, group, { after, limit }),
    change: async (organizationId, id, next, actor) =>
      await confirmed(organizationId, actor, async (tx) => {
        const current = await loadIn(tx, organizationId, id)
        const wish = next(current)
        const isSame = wish.data.attributes === current.attributes
        if (!isSame) await refuseTaken(tx, organizationId, wish.data, current)
        const { added, removed } = await changeMembers(tx, current, wish.members)
        if (isSame && added.size === 0 && removed.size === 0) return { result: current, changed: 0 }
        const group = await directoryGroups.update(tx, current, {
          data: isSame ? undefined : wish.data,
          members: current.members + added.size - removed.size,
        })
        const changed =
          group.role === undefined
            ? 0
            : await roles.apply(tx, organizationId, [...added, ...removed], actor)
        announce(tx, 'updated', group, { added: added.size, removed: removed.size }, actor)
        return { result: group, changed }
      }),
    async remove(organizationId, id, check, actor) {
      await confirmed(organizationId, actor, async (tx) => {
        const current = await loadIn(tx, organizationId, id)
        check(current)
        const members = await directoryMembers.remove(tx, {
          organizationId,
          groupId: id,
          ids: undefined,
        })
        await directoryGroups.remove(tx, current)
        const changed =
          current.role === undefined ? 0 : await roles.apply(tx, organizationId, members, actor)
        announce(tx, 'deleted', current, { removed: members.length }, actor)
        return { result: undefined, changed }
      })
    },
    setRole: async (organizationId, id, role, actor) =>
      await confirmed(organizationId, actor, async (tx) => {
        const current = await loadIn(tx, organizationId, id)
        if (current.role === role) return { result: { group: current, changed: 0 }, changed: 0 }
        const group = await directoryGroups.update(tx, current, { role: role ?? null })
        const members = await directoryMembers.list(tx, organizationId, [id])
        const changed = await roles.apply(tx, organizationId, members.get(id) ?? [], actor)
        record(tx, {
          organizationId,
          actor,
          action: 'directory_group.role_mapped',
          subject: { kind: 'directory_group', id },
          detail: { before: current.role ?? null, after: role ?? null, members_changed: changed },
        })
        return { result: { group, changed }, changed }
      }),
    previewRole: async (organizationId, id, role) =>
      await store.transaction(async (tx) => {
        await loadIn(tx, organizationId, id)
        return await roles.preview(tx, organizationId, id, role)
      }),
  }
}

async function applyChange(
  tx: Tx,
  group: DirectoryGroupRecord,
  change: MemberChange,
): Promise<{ added: string[]; removed: string[] }> {
  const { organizationId, id } = group
  switch (change.kind) {
    case 'add':
      return { added: await addKnown(tx, group, change.ids), removed: [] }
    case 'remove':
      return {
        added: [],
        removed: await directoryMembers.remove(tx, {
          organizationId,
          groupId: id,
          ids: change.ids,
        }),
      }
    case 'clear':
      return {
        added: [],
        removed: await directoryMembers.remove(tx, { organizationId, groupId: id, ids: undefined }),
      }
    case 'replace': {
      const before = await membersOf(tx, group)
      const after = new Set(change.ids)
      const surplus = before.filter((each) => !after.has(each))
      const removed = await directoryMembers.remove(tx, {
        organizationId,
        groupId: id,
        ids: surplus,
      })
      const had = new Set(before)
      const added = await addKnown(
        tx,
        group,
        change.ids.filter((each) => !had.has(each)),
      )
      return { added, removed }
    }
    case 'removeWhere': {
      const fitting = (await membersOf(tx, group)).filter(change.fits)
      return {
        added: [],
        removed: await directoryMembers.remove(tx, { organizationId, groupId: id, ids: fitting }),
      }
    }
    default:
      return change satisfies never
  }
}

async function membersOf(tx: Tx, group: DirectoryGroupRecord): Promise<string[]> {
  const members = await directoryMembers.list(tx, group.organizationId, [group.id])
  return members.get(group.id) ?? []
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

// A directory may have two groups of one name when it tells them apart by its own ids (Entra's are not unique).
async function refuseTaken(
  tx: Tx,
  organizationId: OrganizationId,
  data: DirectoryGroupData,
  own: DirectoryGroupRecord | undefined,
): Promise<void> {
  if (own?.displayNameKey === data.displayNameKey) return
  const same = await directoryGroups.listByName(tx, organizationId, data.displayNameKey)
  const taken = same.some(
    (group) =>
      group.externalId === undefined ||
      data.externalId === undefined ||
      group.externalId === data.externalId,
  )
  if (taken) throw new Problem('conflict', 'There is a group with this displayName already.')
}

function announce(
  tx: Tx,
  change: 'created' | 'updated' | 'deleted',
  group: DirectoryGroupRecord,
  members: { added?: number; removed?: number },
  actor: Actor,
): void {
  const { organizationId, id } = group
  const name = String((JSON.parse(group.attributes) as { displayName?: unknown }).displayName)
  record(tx, {
    organizationId,
    actor,
    action: `directory_group.${change}`,
    subject: { kind: 'directory_group', id },
    detail: {
      display_name: name,
      members_added: members.added ?? 0,
      members_removed: members.removed ?? 0,
    },
  })
  publish(tx, {
    organizationId,
    type: 'scim.group_changed',
    data: {
      group_id: id,
      display_name: name,
      change,
      members_added: members.added ?? 0,
      members_removed: members.removed ?? 0,
    },
  })
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no group ${id.slice(0, 60)}.`)
}
