import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import {
  directoryGroups,
  directoryMembers,
  directoryUsers,
  type Actor,
  type DirectoryUserData,
  type DirectoryUserRecord,
  type GroupOfUser,
  type Transaction,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'
import type { DirectoryNeeds } from './directories-needs.ts'
import type { DirectoryMemberships, DirectoryPerson } from './directories-people.ts'
import type { DirectoryRoles } from './directories-roles.ts'

/** A user with the groups it is in. */
export interface DirectoryUser extends DirectoryUserRecord {
  readonly groups: readonly GroupOfUser[]
}

/** What the directory wants a user to be. */
export interface DirectoryUserWish {
  readonly data: DirectoryUserData
  readonly person: DirectoryPerson
}

/** Users of a directory: create, read, change, delete. */
export interface DirectoryUsers {
  /**
   * Adds a user and its membership, or brings an inactive one of that name back under its id.
   * `conflict` when an active user has the name, or an inactive one whom the directory knows by another external id.
   */
  create(
    organizationId: OrganizationId,
    wish: DirectoryUserWish,
    actor: Actor,
  ): Promise<DirectoryUser>
  /** `not_found`. */
  get(organizationId: OrganizationId, id: string): Promise<DirectoryUser>
  /** Those with these ids, in this order. */
  getAll(
    organizationId: OrganizationId,
    ids: readonly string[],
    withGroups: boolean,
  ): Promise<DirectoryUser[]>
  /**
   * Makes of a user what `next` says, all or nothing; `next` may refuse by throwing and may run again.
   * `not_found`; `conflict` for a name that another user has.
   */
  change(
    organizationId: OrganizationId,
    id: string,
    next: (current: DirectoryUser) => DirectoryUserWish,
    actor: Actor,
  ): Promise<DirectoryUser>
  /** Deactivates and deletes; never refused but by `check`, which may throw. `not_found`. */
  remove(
    organizationId: OrganizationId,
    id: string,
    check: (current: DirectoryUser) => void,
    actor: Actor,
  ): Promise<void>
  /** Active users whom a sign-in with this identifier may belong to; more than one is nobody. */
  findBySignIn(
    organizationId: OrganizationId,
    by: { externalId?: string; userNameKey?: string },
  ): Promise<DirectoryUserRecord | undefined>
}

/** Opens the users' rules. */
export function createDirectoryUsers(
  needs: DirectoryNeeds,
  people: DirectoryMemberships,
  roles: DirectoryRoles,
): DirectoryUsers {
  const { store } = needs

  async function loadIn(
    tx: Transaction,
    organizationId: OrganizationId,
    id: string,
  ): Promise<DirectoryUser> {
    const found = await directoryUsers.find(tx, organizationId, id, true)
    if (!found) throw notFound(id)
    const groups = await directoryMembers.listGroups(tx, organizationId, [found.id])
    return { ...found, groups: groups.get(found.id) ?? [] }
  }

  async function changeIn(
    tx: Transaction,
    current: DirectoryUser,
    wish: DirectoryUserWish,
    actor: Actor,
  ): Promise<DirectoryUser> {
    const { organizationId } = current
    // The same again is no change: IdPs repeat themselves all day.
    if (wish.data.attributes === current.attributes && wish.data.active === current.active) {
      return current
    }
    if (wish.data.userNameKey !== current.userNameKey) {
      const other = await directoryUsers.findByName(tx, organizationId, wish.data.userNameKey)
      if (other !== undefined) throw taken()
    }
    const changed = await directoryUsers.update(tx, current, wish.data)
    if (!changed) throw new Problem('version_conflict', 'The user was changed in the meantime.')
    await people.follow(tx, current, wish.person, actor)
    const ended = current.active && !changed.active
    announce(tx, ended ? 'deprovisioned' : 'updated', changed, actor)
    return { ...changed, groups: current.groups }
  }

  return {
    async create(organizationId, wish, actor) {
      return await store.transaction(async (tx) => {
        const same = await directoryUsers.findByName(tx, organizationId, wish.data.userNameKey)
        if (same !== undefined) {
          refuseUnlessReturning(same, wish)
          return await changeIn(tx, await loadIn(tx, organizationId, same.id), wish, actor)
        }
        const joined = await people.join(tx, organizationId, wish.person)
        const user = await directoryUsers.insert(tx, {
          id: joined.membershipId,
          organizationId,
          userId: joined.userId,
          data: wish.data,
        })
        if (!user) throw taken()
        if (joined.how === 'adopted' && !user.active) await people.deactivate(tx, user, actor)
        announce(tx, 'created', user, actor, joined.how)
        return { ...user, groups: [] }
      })
    },
    async get(organizationId, id) {
      const [user] = await getAll(organizationId, [id], true)
      if (!user) throw notFound(id)
      return user
    },
    getAll,
    change: async (organizationId, id, next, actor) =>
      await store.transaction(async (tx) => {
        const current = await loadIn(tx, organizationId, id)
        return await changeIn(tx, current, next(current), actor)
      }),
    async remove(organizationId, id, check, actor) {
      await store.transaction(async (tx) => {
        const current = await loadIn(tx, organizationId, id)
        check(current)
        await people.deactivate(tx, current, actor)
        const groups = await directoryUsers.remove(tx, current)
        await directoryGroups.countMemberLess(tx, organizationId, groups)
        await directoryUsers.rememberDeparted(tx, current)
        if (current.groups.some((group) => group.role !== undefined)) {
          await roles.apply(tx, organizationId, [id], actor)
        }
        announce(tx, 'deprovisioned', current, actor, 'deleted')
      })
    },
    async findBySignIn(organizationId, by) {
      const found = await directoryUsers.listByIdentifier(store, organizationId, by)
      const [only, ...more] = found.filter((user) => user.active)
      return more.length === 0 ? only : undefined
    },
  }

  async function getAll(
    organizationId: OrganizationId,
    ids: readonly string[],
    withGroups: boolean,
  ): Promise<DirectoryUser[]> {
    const found = await directoryUsers.findAll(store, organizationId, ids)
    const groups = withGroups
      ? await directoryMembers.listGroups(store, organizationId, [...found.keys()])
      : new Map<string, GroupOfUser[]>()
    return ids.flatMap((id) => {
      const user = found.get(id)
      return user === undefined ? [] : [{ ...user, groups: groups.get(id) ?? [] }]
    })
  }
}

// An inactive user comes back under its id; but a recycled name must not bring another person's keys back.
function refuseUnlessReturning(same: DirectoryUserRecord, wish: DirectoryUserWish): void {
  const isOther =
    same.externalId !== undefined &&
    wish.data.externalId !== undefined &&
    same.externalId !== wish.data.externalId
  if (same.active || !wish.data.active || isOther) throw taken()
}

function announce(
  tx: Transaction,
  what: 'created' | 'updated' | 'deprovisioned',
  user: DirectoryUserRecord,
  actor: Actor,
  how?: string,
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

function taken(): Problem {
  return new Problem('conflict', 'There is a user with this userName already.')
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no user ${id.slice(0, 60)}.`)
}
