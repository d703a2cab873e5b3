import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import {
  directoryCounts,
  directoryDuplicates,
  directoryGroups,
  directoryMembers,
  directoryUsers,
  type Actor,
  type DirectoryUserData,
  type DirectoryUserRecord,
  type GroupOfUser,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'
import type { DirectoryDeps } from './deps.ts'
import type { DirectoryMemberships, DirectoryPerson } from './people.ts'
import type { DirectoryRoles } from './roles.ts'
import type { DirectoryTokens } from './tokens.ts'

const maxDuplicates = 20

/** A user with the groups it is in. */
export interface DirectoryUser extends DirectoryUserRecord {
  readonly groups: readonly GroupOfUser[]
}

/** What the directory wants a user to be. */
export interface DirectoryUserInput {
  readonly data: DirectoryUserData
  readonly person: DirectoryPerson
}

/** Users of a directory: create, read, change, delete. */
export interface DirectoryUsers {
  /**
   * Adds a user and its membership, or brings an inactive one back under its id: the person it was when the external
   * ids say so, whatever its name is now; by its name alone, somebody new to whom nothing of that person passes.
   * `conflict` when an active user has the name or the external id, or an inactive one the name whom the directory
   * knows by another external id.
   */
  create(
    organizationId: OrganizationId,
    wish: DirectoryUserInput,
    actor: Actor,
  ): Promise<DirectoryUser>
  /** `not_found`. */
  get(organizationId: OrganizationId, id: string): Promise<DirectoryUser>
  /** Identifiers that several users have, at most some of them: by these nobody is found. */
  listDuplicates(organizationId: OrganizationId): Promise<
    readonly {
      readonly kind: 'external_id' | 'address'
      readonly value: string
      readonly users: readonly DirectoryUser[]
    }[]
  >
  /** The owner whom the directory deactivated and who stays a member because there is no other. */
  findKeptOwner(organizationId: OrganizationId): Promise<{ id: string; name: string } | undefined>
  /** Those with these ids, in this order. */
  getAll(
    organizationId: OrganizationId,
    ids: readonly string[],
    withGroups: boolean,
  ): Promise<DirectoryUser[]>
  /**
   * Makes of a user what `next` says, all or nothing; `next` may refuse by throwing and may run again.
   * `not_found`; `conflict` for a name or an external id that another user has.
   */
  change(
    organizationId: OrganizationId,
    id: string,
    next: (current: DirectoryUser) => DirectoryUserInput,
    actor: Actor,
  ): Promise<DirectoryUser>
  /** Deactivates and deletes; never refused but by `check`, which may throw. `not_found`. */
  remove(
    organizationId: OrganizationId,
    id: string,
    check: (current: DirectoryUser) => void,
    actor: Actor,
  ): Promise<void>
}

/** Opens the users' rules. */
export function createDirectoryUsers(
  deps: DirectoryDeps,
  rules: {
    readonly tokens: Pick<DirectoryTokens, 'whileGood'>
    readonly people: DirectoryMemberships
    readonly roles: DirectoryRoles
  },
): DirectoryUsers {
  const { tokens, people, roles } = rules
  const { store } = deps

  async function loadIn(
    tx: Tx,
    organizationId: OrganizationId,
    id: string,
  ): Promise<DirectoryUser> {
    const found = await directoryUsers.find(tx, { organizationId, id, lock: true })
    if (!found) throw notFound(id)
    const groups = await directoryMembers.listGroups(tx, organizationId, [found.id])
    return { ...found, groups: groups.get(found.id) ?? [] }
  }

  async function changeIn(
    tx: Tx,
    current: DirectoryUser,
    wish: DirectoryUserInput,
    actor: Actor,
    how?: string,
  ): Promise<DirectoryUser> {
    const { organizationId } = current
    // The same again is no change: IdPs repeat themselves all day.
    if (wish.data.attributes === current.attributes && wish.data.active === current.active) {
      return current
    }
    if (wish.data.userNameKey !== current.userNameKey) {
      const other = await directoryUsers.findByName(tx, organizationId, wish.data.userNameKey)
      if (other !== undefined) throw taken('userName')
    }
    await claimExternalId(tx, current, wish.data.externalId)
    const changed = await directoryUsers.update(tx, current, wish.data)
    if (!changed) throw new Problem('version_conflict', 'The user was changed in the meantime.')
    await people.follow(tx, current, wish.person, actor)
    const ended = current.active && !changed.active
    announce(tx, ended ? 'deprovisioned' : 'updated', changed, actor, how)
    return { ...changed, groups: current.groups }
  }

  // A change that ends access is answered when the other nodes know it; any other need not wait for them.
  async function confirmed<T>(
    queue: OrganizationId,
    actor: Actor,
    work: (tx: Tx) => Promise<{ result: T; hasEnded: boolean }>,
  ): Promise<T> {
    const { result } = await store.transactionConfirmed(
      async (tx) => await tokens.whileGood(tx, queue, actor, async () => await work(tx)),
      { isNeeded: ({ hasEnded }) => hasEnded, queue },
    )
    return result.result
  }

  return {
    async create(organizationId, wish, actor) {
      return await confirmed(organizationId, actor, async (tx) => {
        // Nearly always: what else must be asked one after the other is asked at once.
        const made = await people.makeIfNew(tx, organizationId, wish.person, {
          data: wish.data,
          actor,
        })
        if (made === 'taken') throw taken('userName or externalId')
        if (made !== 'known') {
          announce(tx, 'created', made, actor, 'made')
          return { result: { ...made, groups: [] }, hasEnded: false }
        }
        // Of two who bring the same person back, or adopt the same member, one comes second and sees it.
        await directoryCounts.hold(tx, organizationId)
        const same = await findSame(tx, organizationId, wish)
        if (same !== undefined) {
          const current = await loadIn(tx, organizationId, same.id)
          if (isProven(current, wish)) {
            const result = await changeIn(tx, current, wish, actor, 'returned')
            return { result, hasEnded: false }
          }
          const userId = await people.replace(tx, current, wish.person, actor)
          const emptied = { ...current, userId, groups: [] }
          const result = await changeIn(tx, emptied, wish, actor, 'replaced')
          return { result, hasEnded: true }
        }
        const joined = await people.join(tx, organizationId, wish.person, actor)
        const user = await directoryUsers.insert(tx, {
          id: joined.membershipId,
          organizationId,
          userId: joined.userId,
          data: wish.data,
        })
        if (!user) throw taken('userName or externalId')
        const hasEnded = joined.how === 'adopted' && !user.active
        if (hasEnded) await people.deactivate(tx, user, actor)
        announce(tx, 'created', user, actor, joined.how)
        return { result: { ...user, groups: [] }, hasEnded }
      })
    },
    async get(organizationId, id) {
      const [user] = await getAll(organizationId, [id], true)
      if (!user) throw notFound(id)
      return user
    },
    getAll,
    findKeptOwner: async (organizationId) =>
      await directoryUsers.findKeptOwner(store, organizationId),
    async listDuplicates(organizationId) {
      const found = await directoryDuplicates.list(store.slowReads, organizationId, maxDuplicates)
      const ids = [...new Set(found.flatMap(({ userIds }) => userIds))]
      const users = await getAll(organizationId, ids, false)
      return found.map(({ kind, value, userIds }) => ({
        kind,
        value,
        users: users.filter(({ id }) => userIds.includes(id)),
      }))
    },
    change: async (organizationId, id, next, actor) =>
      await confirmed(organizationId, actor, async (tx) => {
        const current = await loadIn(tx, organizationId, id)
        const result = await changeIn(tx, current, next(current), actor)
        // A directory repeats itself: an owner whom it could not end before has an heir by now.
        const isRepeated = !current.active && !result.active
        const hasEnded = isRepeated
          ? await people.deactivateKept(tx, current, actor)
          : current.active && !result.active
        return { result, hasEnded }
      }),
    async remove(organizationId, id, check, actor) {
      await confirmed(organizationId, actor, async (tx) => {
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
        return { result: undefined, hasEnded: true }
      })
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

// The directory's own id for the person, not the name, says that somebody is back: names are given again.
function isProven(same: DirectoryUserRecord, wish: DirectoryUserInput): boolean {
  return same.externalId !== undefined && same.externalId === wish.data.externalId
}

/** The inactive user that a new one brings back: by its external id, or else by its name. Refuses what is another's. */
async function findSame(
  tx: Tx,
  organizationId: OrganizationId,
  wish: DirectoryUserInput,
): Promise<DirectoryUserRecord | undefined> {
  const { userNameKey, externalId, active } = wish.data
  const byName = await directoryUsers.findByName(tx, organizationId, userNameKey)
  const byExternalId = await listByExternalId(tx, organizationId, externalId)
  const [known] = byExternalId
  if (known !== undefined) {
    // Several share it from before ids were unique: which of them is meant is not guessed.
    if (byExternalId.length > 1 || known.active || !active) throw taken('externalId')
    if (byName !== undefined && byName.id !== known.id) throw taken('userName')
    return known
  }
  if (byName === undefined) return undefined
  const isOther = byName.externalId !== undefined && externalId !== undefined
  if (byName.active || !active || isOther) throw taken('userName')
  return byName
}

/** Refuses an external id that another user has; whoever left under it is then no longer expected back by it. */
async function claimExternalId(
  tx: Tx,
  current: DirectoryUserRecord,
  externalId: string | undefined,
): Promise<void> {
  if (externalId === undefined || externalId === current.externalId) return
  const others = await listByExternalId(tx, current.organizationId, externalId)
  if (others.length > 0) throw taken('externalId')
  await directoryUsers.takeDeparted(tx, current.organizationId, externalId)
}

async function listByExternalId(
  tx: Tx,
  organizationId: OrganizationId,
  externalId: string | undefined,
): Promise<DirectoryUserRecord[]> {
  if (externalId === undefined) return []
  return await directoryUsers.listByIdentifier(tx, organizationId, { externalId })
}

function announce(
  tx: Tx,
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

function taken(identifier: 'userName' | 'externalId' | 'userName or externalId'): Problem {
  return new Problem('conflict', `There is a user with this ${identifier} already.`)
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no user ${id.slice(0, 60)}.`)
}
