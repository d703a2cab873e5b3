import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import {
  directoryCounts,
  directoryDuplicates,
  directoryGroups,
  directoryMembers,
  directoryUsers,
  type DirectoryUserRecord,
  type GroupOfUser,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { runChange, type ChangeDeps, type DirectoryCaller, type DirectoryChange } from './change.ts'
import type { DirectoryMemberships, DirectoryUserInput } from './people.ts'
import type { DirectoryRoles } from './roles.ts'
import { claimExternalId, findSame, isProven, taken } from './user-identity.ts'

const maxDuplicates = 20

export interface DirectoryUser extends DirectoryUserRecord {
  readonly groups: readonly GroupOfUser[]
}

interface DuplicateIdentifier {
  readonly kind: 'external_id' | 'address'
  readonly value: string
  readonly users: readonly DirectoryUser[]
}

interface UserDeps extends ChangeDeps {
  readonly people: DirectoryMemberships
  readonly roles: DirectoryRoles
}

/** Creates, reads, changes and deletes a directory's users. */
export class DirectoryUsers {
  readonly #deps: UserDeps

  constructor(deps: UserDeps) {
    this.#deps = deps
  }

  /**
   * Adds a user and its membership, or takes over the record of an inactive user: as the same person if the external
   * ids match, otherwise as a new person, who inherits nothing. Throws `conflict` for the reasons that `findSame`
   * names, and if the person to replace is the last owner.
   */
  async create(caller: DirectoryCaller, input: DirectoryUserInput): Promise<DirectoryUser> {
    return await runChange(this.#deps, caller, async (change) => {
      const made = await this.#deps.people.makeIfNew(change, input)
      if (made === 'taken') throw taken('userName or externalId')
      if (made === 'known') return await this.#createKnown(change, input)
      announce(change, made, { what: 'created', how: 'made' })
      return { result: { ...made, groups: [] }, endsAccess: false }
    })
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId, id: string): Promise<DirectoryUser> {
    const [user] = await this.getAll(organizationId, [id], true)
    if (!user) throw notFound(id)
    return user
  }

  /** Returns the users with these ids, in the same order; unknown ids are left out. */
  async getAll(
    organizationId: OrganizationId,
    ids: readonly string[],
    withGroups: boolean,
  ): Promise<DirectoryUser[]> {
    const { store } = this.#deps
    const found = await directoryUsers.findAll(store, organizationId, ids)
    const groups = withGroups
      ? await directoryMembers.listGroups(store, organizationId, [...found.keys()])
      : new Map<string, GroupOfUser[]>()
    return ids.flatMap((id) => {
      const user = found.get(id)
      return user === undefined ? [] : [{ ...user, groups: groups.get(id) ?? [] }]
    })
  }

  /**
   * Finds an owner who stays a member although the directory deactivated them, because they were the last owner then.
   */
  async findKeptOwner(
    organizationId: OrganizationId,
  ): Promise<{ id: string; name: string } | undefined> {
    return await directoryUsers.findKeptOwner(this.#deps.store, organizationId)
  }

  /**
   * Lists at most `maxDuplicates` identifiers that several users share: such an identifier does not tell which user is
   * meant.
   */
  async listDuplicates(organizationId: OrganizationId): Promise<readonly DuplicateIdentifier[]> {
    const { slowReads } = this.#deps.store
    const found = await directoryDuplicates.list(slowReads, organizationId, maxDuplicates)
    const ids = [...new Set(found.flatMap(({ userIds }) => userIds))]
    const users = await this.getAll(organizationId, ids, false)
    return found.map(({ kind, value, userIds }) => ({
      kind,
      value,
      users: users.filter(({ id }) => userIds.includes(id)),
    }))
  }

  /**
   * Changes a user to what `next` returns, all or nothing; `next` may refuse by throwing and may run more than once.
   * Throws `not_found`, or `conflict` if another user has the name or external id.
   */
  async change(
    caller: DirectoryCaller,
    id: string,
    next: (current: DirectoryUser) => DirectoryUserInput,
  ): Promise<DirectoryUser> {
    return await runChange(this.#deps, caller, async (change) => {
      const current = await loadLocked(change, id)
      const result = await this.#apply(change, current, { input: next(current) })
      // Directories repeat requests: the first request may have kept the last owner, and by now there may be another
      // owner.
      const isRepeated = !current.active && !result.active
      const endsAccess = isRepeated
        ? await this.#deps.people.deactivateKept(change, current)
        : current.active && !result.active
      return { result, endsAccess }
    })
  }

  /** Deactivates and deletes a user. Throws `not_found`; `check` may refuse for another reason by throwing. */
  async remove(
    caller: DirectoryCaller,
    id: string,
    check: (current: DirectoryUser) => void,
  ): Promise<void> {
    await runChange(this.#deps, caller, async (change) => {
      const { tx, organizationId } = change
      const current = await loadLocked(change, id)
      check(current)
      await this.#deps.people.deactivate(change, current)
      const groups = await directoryUsers.remove(tx, current)
      await directoryGroups.countMemberLess(tx, organizationId, groups)
      await directoryUsers.rememberDeparted(tx, current)
      if (current.groups.some((group) => group.role !== undefined)) {
        await this.#deps.roles.apply(change, [id])
      }
      announce(change, current, { what: 'deprovisioned', how: 'deleted' })
      return { result: undefined, endsAccess: true }
    })
  }

  /**
   * Restores, adopts or creates a user for whom `makeIfNew` returned `known`, because an identifier of the user is or
   * was in use.
   */
  async #createKnown(
    change: DirectoryChange,
    input: DirectoryUserInput,
  ): Promise<{ result: DirectoryUser; endsAccess: boolean }> {
    const { tx, organizationId } = change
    // From here on, two requests that restore or adopt the same person run one after the other.
    await directoryCounts.hold(tx, organizationId)
    const same = await findSame(change, input)
    if (same !== undefined) return await this.#bringBack(change, same.id, input)
    const joined = await this.#deps.people.join(change, input.person)
    const user = await directoryUsers.insert(tx, {
      id: joined.membershipId,
      organizationId,
      userId: joined.userId,
      data: input.data,
    })
    if (!user) throw taken('userName or externalId')
    const endsAccess = joined.how === 'adopted' && !user.active
    if (endsAccess) await this.#deps.people.deactivate(change, user)
    announce(change, user, { what: 'created', how: joined.how })
    return { result: { ...user, groups: [] }, endsAccess }
  }

  async #bringBack(
    change: DirectoryChange,
    id: string,
    input: DirectoryUserInput,
  ): Promise<{ result: DirectoryUser; endsAccess: boolean }> {
    const current = await loadLocked(change, id)
    if (isProven(current, input)) {
      const result = await this.#apply(change, current, { input, how: 'returned' })
      return { result, endsAccess: false }
    }
    const userId = await this.#deps.people.replace(change, current, input.person)
    const emptied = { ...current, userId, groups: [] }
    const result = await this.#apply(change, emptied, { input, how: 'replaced' })
    return { result, endsAccess: true }
  }

  async #apply(
    change: DirectoryChange,
    current: DirectoryUser,
    { input, how }: { input: DirectoryUserInput; how?: string },
  ): Promise<DirectoryUser> {
    const { tx, organizationId } = change
    const { data, person } = input
    // IdPs send unchanged users all day; nothing needs to be written for them.
    if (data.attributes === current.attributes && data.active === current.active) return current
    if (data.userNameKey !== current.userNameKey) {
      const other = await directoryUsers.findByName(tx, organizationId, data.userNameKey)
      if (other !== undefined) throw taken('userName')
    }
    await claimExternalId(tx, current, data.externalId)
    const changed = await directoryUsers.update(tx, current, data)
    if (!changed) throw new Problem('version_conflict', 'The user was changed in the meantime.')
    await this.#deps.people.follow(change, current, person)
    const hasEnded = current.active && !changed.active
    announce(change, changed, { what: hasEnded ? 'deprovisioned' : 'updated', how })
    return { ...changed, groups: current.groups }
  }
}

async function loadLocked(
  { tx, organizationId }: DirectoryChange,
  id: string,
): Promise<DirectoryUser> {
  const found = await directoryUsers.find(tx, { organizationId, id, lock: true })
  if (!found) throw notFound(id)
  const groups = await directoryMembers.listGroups(tx, organizationId, [found.id])
  return { ...found, groups: groups.get(found.id) ?? [] }
}

function announce(
  { tx, actor }: DirectoryChange,
  user: DirectoryUserRecord,
  { what, how }: { what: 'created' | 'updated' | 'deprovisioned'; how?: string | undefined },
): void {
  const { organizationId, id, userId } = user
  const userName = String((JSON.parse(user.attributes) as { userName?: unknown }).userName)
  record(tx, {
    organizationId,
    actor,
    action: `directory_user.${what}`,
    subject: { kind: 'directory_user', id },
    detail: { user_id: userId, user_name: userName, active: user.active, ...(how && { how }) },
  })
  publish(tx, {
    organizationId,
    type: `scim.user_${what}`,
    data: {
      user_id: userId,
      user_name: userName,
      id,
      active: user.active && what !== 'deprovisioned',
    },
  })
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no user ${id.slice(0, 60)}.`)
}
