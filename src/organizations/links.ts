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
import { checkOrganization, insertOrganization } from './organizations.ts'
import { join } from './member-lifecycle.ts'
import { emailOf, nameOf } from './name.ts'
import { recordForPerson } from './audit-entries.ts'

const lifetimeMs = 3600 * 1000
const tokenBytes = 32
const setUpSetting = 'set_up_at'
const pages = { setup: 'setup', sign_in: 'sign-in-link' } as const

/** The first owner and their organization, as typed on the setup page. */
export interface SetUpInput {
  readonly name: string
  readonly email: string
  readonly organization: {
    readonly slug: string
    readonly name?: string | undefined
    /** Whether the person is to own the existing organization with this slug. */
    readonly existing?: boolean | undefined
  }
}

export interface LinksDeps {
  readonly store: Store
  readonly clock: Clock
  readonly baseUrl: string
}

/** The two links that an operator can print: for the first owner, and for emergencies. */
export class Links {
  readonly #deps: LinksDeps

  constructor(deps: LinksDeps) {
    this.#deps = deps
  }

  /**
   * Returns a new setup link; undefined if the installation is set up. `keepOlder` leaves earlier links valid, because
   * several nodes may each print one when they start.
   */
  async setupLink({ keepOlder = false } = {}): Promise<string | undefined> {
    return await this.#deps.store.transaction(async (tx) => {
      if (await isSetUp(tx)) return undefined
      await signInLinks.removeSetUp(tx, keepOlder ? tx.now : Infinity)
      return await this.#insert(tx, 'setup')
    })
  }

  /** Whether a setup token is still valid. */
  async isSetupOpen(token: string): Promise<boolean> {
    const { store, clock } = this.#deps
    return (await signInLinks.findOpen(store, digest(token), clock.now()))?.kind === 'setup'
  }

  /**
   * Creates the first owner, with a new organization or an existing one. Throws `link_invalid`, `invalid_input`, or
   * `conflict` if the new organization's slug is taken.
   */
  async setUp(
    token: string,
    input: SetUpInput,
    actor: Actor,
  ): Promise<{ user: UserRecord; organization: OrganizationRecord }> {
    const email = emailOf(input.email)
    const name = nameOf(input.name)
    const checked = checkOrganization(input.organization)
    const userId = createId('usr', this.#deps.clock.now())
    return await this.#deps.store.transaction(async (tx) => {
      const link = await signInLinks.use(tx, digest(token), 'setup')
      if (!link || (await isSetUp(tx))) throw invalid('npx interceptd setup-link')
      const user = await users.insert(tx, { id: userId, name, email })
      const self: Actor = { ...actor, kind: 'user', id: user.id, name }
      const found = await organizations.findBySlug(tx, checked.slug)
      if (found && input.organization.existing !== true) {
        throw new Problem(
          'conflict',
          `There is an organization ${checked.slug} already. Choose another name, or say that you are to own that one.`,
        )
      }
      const organization =
        found ?? (await insertOrganization(tx, { ...checked, plan: 'standard' }, self))
      const member = { organizationId: organization.id, userId, name, email }
      await join(tx, { ...member, role: 'owner', source: 'setup' }, self)
      await settings.set(tx, setUpSetting, new Date(tx.now).toISOString())
      return { user, organization }
    })
  }

  /**
   * Creates a single-use link, valid for an hour, that signs in a known person. Throws `invalid_input`, `not_found`, or
   * `conflict` if several people have the address.
   */
  async signInLink(
    idOrEmail: string,
    by: { readonly organizationId?: OrganizationId | undefined; readonly actor?: Actor } = {},
  ): Promise<string> {
    const { store } = this.#deps
    const { organizationId, actor = { kind: 'operator' } } = by
    const { id: userId } = await personToSignIn(store, idOrEmail, organizationId)
    return await store.transaction(async (tx) => {
      const entry = { actor, action: 'sign_in_link.printed', detail: {} } as const
      await recordForPerson(tx, { userId }, entry)
      return await this.#insert(tx, 'sign_in', userId)
    })
  }

  /** Consumes a sign-in link, and returns the person it is for. Throws `link_invalid`. */
  async useSignInLink(token: string): Promise<UserRecord> {
    return await this.#deps.store.transaction(async (tx) => {
      const link = await signInLinks.use(tx, digest(token), 'sign_in')
      const user = link?.userId === undefined ? undefined : await users.find(tx, link.userId)
      if (!user || user.deactivatedAt !== undefined) {
        throw invalid('npx interceptd sign-in-link <email>')
      }
      return user
    })
  }

  /** Stores a new link's digest, and returns the only copy of the link. */
  async #insert(tx: Tx, kind: keyof typeof pages, userId?: UserId): Promise<string> {
    const token = randomToken(tokenBytes)
    const expiresAt = tx.now + lifetimeMs
    await signInLinks.insert(tx, { digest: digest(token), kind, userId, expiresAt })
    return `${this.#deps.baseUrl}/${pages[kind]}?token=${token}`
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

/**
 * Without an organization, finds the people whose address counts in every organization; only if there are none, finds
 * those whose address counts in a single one.
 */
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

/** An installation that was set up once stays set up, even after its first owner has left. */
async function isSetUp(tx: Tx): Promise<boolean> {
  return (await settings.find(tx, setUpSetting)) !== undefined || (await users.exists(tx))
}

function invalid(command: string): Problem {
  return new Problem(
    'link_invalid',
    `This link has been used or is older than 1 hour. Print a new one: ${command}`,
  )
}
