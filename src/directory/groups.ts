import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import {
  directoryCounts,
  directoryGroups,
  directoryMembers,
  type DirectoryGroupData,
  type DirectoryGroupRecord,
  type GroupRole,
} from '../store/index.ts'
import { requirePowerOfGroups } from '../organizations/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { runChange, type ChangeDeps, type DirectoryCaller, type DirectoryChange } from './change.ts'
import { changeMembers, membersOf, removeMembers, type MemberChange } from './group-members.ts'
import type { DirectoryRoles, RoleChange } from './roles.ts'

/** The state that the directory wants a group to have. */
export interface DirectoryGroupInput {
  readonly data: DirectoryGroupData
  readonly members: readonly MemberChange[]
}

interface GroupDeps extends ChangeDeps {
  readonly roles: DirectoryRoles
}

/** Creates, reads, changes and deletes a directory's groups, and sets the roles that they grant. */
export class DirectoryGroups {
  readonly #deps: GroupDeps

  constructor(deps: GroupDeps) {
    this.#deps = deps
  }

  /**
   * Creates a group. Throws `invalid_input` for unknown members, and `conflict` if another group has the name, unless
   * both groups have external ids and these differ.
   */
  async create(caller: DirectoryCaller, input: DirectoryGroupInput): Promise<DirectoryGroupRecord> {
    return await runChange(this.#deps, caller, async (change) => {
      const { tx, organizationId } = change
      // No unique index prevents two groups with one name, so requests that create a group run one after the other.
      await directoryCounts.hold(tx, organizationId)
      await refuseTaken(change, input.data, undefined)
      const made = await directoryGroups.insert(tx, {
        id: createId('grp', tx.now),
        organizationId,
        data: input.data,
      })
      const { added } = await changeMembers(tx, made, input.members)
      const group =
        added.size === 0 ? made : await directoryGroups.update(tx, made, { members: added.size })
      announce(change, group, { what: 'created', added: added.size })
      return { result: group, endsAccess: false }
    })
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId, id: string): Promise<DirectoryGroupRecord> {
    const group = await directoryGroups.find(this.#deps.store, { organizationId, id })
    if (!group) throw notFound(id)
    return group
  }

  /** Returns the groups with these ids, in the same order; unknown ids are left out. */
  async getAll(
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<DirectoryGroupRecord[]> {
    const found = await directoryGroups.findAll(this.#deps.store, organizationId, ids)
    return ids.flatMap((id) => found.get(id) ?? [])
  }

  /** Returns the member ids of groups, by group id. */
  async listMembers(
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<Map<string, string[]>> {
    return await directoryMembers.list(this.#deps.store, organizationId, ids)
  }

  /** Returns a page of a group's member ids in order, after a given id ('' for the first page). */
  async memberPage(group: DirectoryGroupRecord, after: string, limit: number): Promise<string[]> {
    return await directoryMembers.listPage(this.#deps.store, group, { after, limit })
  }

  /**
   * Changes a group to what `next` returns, all or nothing. Throws `not_found`, and `conflict` and `invalid_input` as
   * `create` does.
   */
  async change(
    caller: DirectoryCaller,
    id: string,
    next: (current: DirectoryGroupRecord) => DirectoryGroupInput,
  ): Promise<DirectoryGroupRecord> {
    return await runChange(this.#deps, caller, async (change) => {
      const { tx } = change
      const current = await loadLocked(change, id)
      const input = next(current)
      const isSame = input.data.attributes === current.attributes
      if (!isSame) await refuseTaken(change, input.data, current)
      const { added, removed } = await changeMembers(tx, current, input.members)
      if (isSame && added.size === 0 && removed.size === 0) {
        return { result: current, endsAccess: false }
      }
      const group = await directoryGroups.update(tx, current, {
        data: isSame ? undefined : input.data,
        members: current.members + added.size - removed.size,
      })
      const changed = await this.#applyRole(change, group, [...added, ...removed])
      announce(change, group, { what: 'updated', added: added.size, removed: removed.size })
      return { result: group, endsAccess: changed > 0 }
    })
  }

  /** Deletes a group; `check` may refuse by throwing. Throws `not_found`. */
  async remove(
    caller: DirectoryCaller,
    id: string,
    check: (current: DirectoryGroupRecord) => void,
  ): Promise<void> {
    await runChange(this.#deps, caller, async (change) => {
      const { tx } = change
      const current = await loadLocked(change, id)
      check(current)
      const removed = await removeMembers(tx, current, undefined)
      await directoryGroups.remove(tx, current)
      const changed = await this.#applyRole(change, current, removed)
      announce(change, current, { what: 'deleted', removed: removed.length })
      return { result: undefined, endsAccess: changed > 0 }
    })
  }

  /**
   * Maps a group to a role, or to none; `changed` counts the members whose role changed. Throws `not_found` and
   * `permission_required`.
   */
  async setRole(
    caller: DirectoryCaller,
    id: string,
    role: GroupRole | undefined,
  ): Promise<{ group: DirectoryGroupRecord; changed: number }> {
    return await runChange(this.#deps, caller, async (change) => {
      const { tx, organizationId, actor } = change
      const current = await loadLocked(change, id)
      if (current.role === role) {
        return { result: { group: current, changed: 0 }, endsAccess: false }
      }
      if (role !== undefined) await requirePowerOfGroups(tx, { organizationId, actor }, [role])
      const group = await directoryGroups.update(tx, current, { role: role ?? null })
      const changed = await this.#deps.roles.apply(change, await membersOf(tx, group))
      record(tx, {
        organizationId,
        actor,
        action: 'directory_group.role_mapped',
        subject: { kind: 'directory_group', id },
        detail: {
          display_name: nameOf(group),
          before: current.role ?? null,
          after: role ?? null,
          members_changed: changed,
        },
      })
      return { result: { group, changed }, endsAccess: changed > 0 }
    })
  }

  /** Lists the members whose role would change if the group granted `role`. Throws `not_found`. */
  async previewRole(
    organizationId: OrganizationId,
    id: string,
    role: GroupRole | undefined,
  ): Promise<RoleChange[]> {
    return await this.#deps.store.transaction(async (tx) => {
      const group = await loadLocked({ tx, organizationId }, id)
      return await this.#deps.roles.preview(tx, group, role)
    })
  }

  /**
   * If the group grants a role, recalculates the roles of these users from all of their groups; returns how many roles
   * changed.
   */
  async #applyRole(
    change: DirectoryChange,
    group: DirectoryGroupRecord,
    userIds: readonly string[],
  ): Promise<number> {
    return group.role === undefined ? 0 : await this.#deps.roles.apply(change, userIds)
  }
}

// Locks the whole directory, as `create` does: no unique index prevents two groups with one name.
async function loadLocked(
  { tx, organizationId }: Pick<DirectoryChange, 'tx' | 'organizationId'>,
  id: string,
): Promise<DirectoryGroupRecord> {
  const found = await directoryGroups.find(tx, { organizationId, id, lock: true })
  if (!found) throw notFound(id)
  return found
}

// Throws `conflict` if another group has the name, unless both groups have external ids and these differ (Entra's names
// are not unique).
async function refuseTaken(
  { tx, organizationId }: DirectoryChange,
  data: DirectoryGroupData,
  own: DirectoryGroupRecord | undefined,
): Promise<void> {
  const isSame = own?.displayNameKey === data.displayNameKey && own.externalId === data.externalId
  if (isSame) return
  const same = await directoryGroups.listByName(tx, organizationId, data.displayNameKey)
  const taken = same.some(
    (group) =>
      group.id !== own?.id &&
      (group.externalId === undefined ||
        data.externalId === undefined ||
        group.externalId === data.externalId),
  )
  if (taken) throw new Problem('conflict', 'There is a group with this displayName already.')
}

function nameOf(group: DirectoryGroupRecord): string {
  return String((JSON.parse(group.attributes) as { displayName?: unknown }).displayName)
}

function announce(
  { tx, actor }: DirectoryChange,
  group: DirectoryGroupRecord,
  done: { what: 'created' | 'updated' | 'deleted'; added?: number; removed?: number },
): void {
  const { what, added = 0, removed = 0 } = done
  const { organizationId, id } = group
  const name = nameOf(group)
  record(tx, {
    organizationId,
    actor,
    action: `directory_group.${what}`,
    subject: { kind: 'directory_group', id },
    detail: {
      display_name: name,
      members_added: added,
      members_removed: removed,
    },
  })
  publish(tx, {
    organizationId,
    type: 'scim.group_changed',
    data: {
      group_id: id,
      display_name: name,
      change: what,
      members_added: added,
      members_removed: removed,
    },
  })
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no group ${id.slice(0, 60)}.`)
}
