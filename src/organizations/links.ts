import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, isId, type OrganizationId, type UserId } from '../ids.ts'
import { digest, randomToken } from '../secrets/index.ts'
import {
  memberships,
  organizations,
  settings,
  signInLinks,
  users,
  type Actor,
  type OrganizationRecord,
  type Store,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { join } from './member-lifecycle.ts'
import { emailOf, nameOf } from './name.ts'
import { checkOrganization, insertOrganization } from './organizations.ts'

const lifetimeMs = 3600 * 1000
const tokenBytes = 32

/** The two links that an operator prints: the first owner's, and the one for emergencies. */
export interface Links {
  /**
   * A new setup link, or undefined once there is an owner. Older ones end, unless they are to be kept: several nodes
   * that start on one database each print one, and each printed line must work until somebody has used one of them.
   */
  setupLink(wish?: { keepOlder: boolean }): Promise<string | undefined>
  /** Whether a setup token still works. */
  isSetupOpen(token: string): Promise<boolean>
  /** Makes the first owner with an organization. `link_invalid`, `invalid_input`, `conflict` for the slug. */
  setUp(
    token: string,
    wish: {
      name: string
      email: string
      organization: {
        slug: string
        name?: string | undefined
        /** Whether an organization of this name that exists already is meant. */
        existing?: boolean | undefined
      }
    },
    actor: Actor,
  ): Promise<{ user: UserRecord; organization: OrganizationRecord }>
  /**
   * A single-use link that signs a known person in, for an hour: by their id, or by an address; an organization says
   * which of several people with it is meant. `not_found`, `conflict` for several people.
   */
  signInLink(idOrEmail: string, organizationId?: OrganizationId): Promise<string>
  /** Uses a sign-in link up. `link_invalid`. */
  useSignInLink(token: string): Promise<UserRecord>
}

/** Opens the links' rules. */
export function createLinks(deps: { store: Store; clock: Clock; baseUrl: string }): Links {
  const { store, clock, baseUrl } = deps

  return {
    async setupLink(wish) {
      const token = randomToken(tokenBytes)
      return await store.transaction(async (tx) => {
        if (await isSetUp(tx)) return undefined
        await signInLinks.removeSetUp(tx, wish?.keepOlder === true ? tx.now : Infinity)
        const expiresAt = tx.now + lifetimeMs
        await signInLinks.insert(tx, {
          digest: digest(token),
          kind: 'setup',
          userId: undefined,
          expiresAt,
        })
        return `${baseUrl}/setup?token=${token}`
      })
    },
    async isSetupOpen(token) {
      const link = await signInLinks.findOpen(store, digest(token), clock.now())
      return link?.kind === 'setup'
    },
    async setUp(token, wish, actor) {
      const email = emailOf(wish.email)
      const name = nameOf(wish.name)
      const place = checkOrganization(wish.organization)
      const userId = createId('usr', clock.now())
      return await store.transaction(async (tx) => {
        const link = await signInLinks.use(tx, digest(token), 'setup')
        if (!link || (await isSetUp(tx))) throw invalid('npx interceptd setup-link')
        const user = await users.insert(tx, { id: userId, name, email })
        const self: Actor = { ...actor, kind: 'user', id: user.id, name }
        const found = await organizations.findBySlug(tx, place.slug)
        if (found && wish.organization.existing !== true) {
          throw new Problem(
            'conflict',
            `There is an organization ${place.slug} already. Choose another name, or say that you are to own that one.`,
          )
        }
        const organization =
          found ?? (await insertOrganization(tx, { ...place, plan: 'standard' }, self))
        const member = { organizationId: organization.id, userId, name, email }
        await join(tx, { ...member, role: 'owner', source: 'setup' }, self)
        await settings.set(tx, setUpSetting, new Date(tx.now).toISOString())
        return { user, organization }
      })
    },
    async signInLink(idOrEmail, organizationId) {
      const token = randomToken(tokenBytes)
      const user = await personToSignIn(store, idOrEmail, organizationId)
      await store.transaction(async (tx) => {
        const expiresAt = tx.now + lifetimeMs
        await signInLinks.insert(tx, {
          digest: digest(token),
          kind: 'sign_in',
          userId: user.id,
          expiresAt,
        })
        await recordFor(tx, user.id, { kind: 'operator' }, 'sign_in_link.printed')
      })
      return `${baseUrl}/sign-in-link?token=${token}`
    },
    async useSignInLink(token) {
      return await store.transaction(async (tx) => {
        const link = await signInLinks.use(tx, digest(token), 'sign_in')
        const user = link?.userId === undefined ? undefined : await users.find(tx, link.userId)
        if (!user || user.deactivatedAt !== undefined) {
          throw invalid('npx interceptd sign-in-link <email>')
        }
        return user
      })
    },
  }
}

async function personToSignIn(
  store: Store,
  idOrEmail: string,
  organizationId: OrganizationId | undefined,
): Promise<UserRecord> {
  if (isId('usr', idOrEmail)) {
    const user = await users.find(store, idOrEmail)
    if (!user) throw new Problem('not_found', `There is no person ${idOrEmail}.`)
    return user
  }
  const email = emailOf(idOrEmail)
  const found = await peopleWith(store, email, organizationId)
  const [user, second] = found
  if (!user) throw new Problem('not_found', `Nobody here has the address ${email}.`)
  if (second) {
    const ids = found.map(({ id }) => id).join(', ')
    throw new Problem(
      'conflict',
      `Several people have the address ${email}. Name the organization with --org, or one of them by id: ${ids}.`,
    )
  }
  return user
}

/** Those whose address it is; where nobody has proven it, those for whom a directory has written it. */
async function peopleWith(
  store: Store,
  email: string,
  organizationId: OrganizationId | undefined,
): Promise<UserRecord[]> {
  if (organizationId === undefined) {
    const proven = await users.listByEmail(store, email)
    return proven.length > 0 ? proven : await users.listByEmail(store, email, 'anywhere')
  }
  const members = []
  for (const user of await users.listByEmail(store, email, { organizationId })) {
    const member = await memberships.findByUser(store, organizationId, user.id)
    if (member?.deactivatedAt === undefined && member) members.push(user)
  }
  return members
}

const setUpSetting = 'set_up_at'

/** Once set up, always set up: no link makes a second first owner, even when the first one has left. */
async function isSetUp(tx: Tx): Promise<boolean> {
  return (await settings.find(tx, setUpSetting)) !== undefined || (await users.exists(tx))
}

async function recordFor(tx: Tx, userId: UserId, actor: Actor, action: string): Promise<void> {
  for (const { organization } of await memberships.listOfUser(tx, userId)) {
    record(tx, {
      organizationId: organization.id,
      actor,
      action,
      subject: { kind: 'user', id: userId },
      detail: {},
    })
  }
}

function invalid(command: string): Problem {
  return new Problem(
    'link_invalid',
    `This link has been used or is older than 1 hour. Print a new one: ${command}`,
  )
}
