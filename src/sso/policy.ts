import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import {
  connections,
  organizations,
  type Actor,
  type MembershipRecord,
  type OrganizationRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import type { DirectoryPeople } from './admission.ts'
import {
  isActiveOwner,
  policyOf,
  requireActingOwner,
  requireEnterprise,
  type Reach,
  type SessionReach,
  type SsoPolicy,
  type Visitor,
} from '../organizations/index.ts'

// Ways to sign in that the operator hands out; they work even when the organization's provider fails.
const emergencyProviders: readonly string[] = ['setup', 'sign_in_link']
const maxBreakGlass = 10

interface SsoPoliciesDeps {
  readonly store: Store
  readonly directory: Pick<DirectoryPeople, 'isOn'>
}

/** Stores whether an organization requires company sign-in, and decides whom that keeps out. */
export class SsoPolicies implements SessionReach {
  readonly #store: Store
  readonly #directory: SsoPoliciesDeps['directory']

  constructor({ store, directory }: SsoPoliciesDeps) {
    this.#store = store
    this.#directory = directory
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId): Promise<SsoPolicy> {
    return policyOf(found(await organizations.find(this.#store, organizationId)))
  }

  /** Whether the directory (SCIM) decides who is a member. */
  async directoryIsOn(organizationId: OrganizationId): Promise<boolean> {
    return await this.#directory.isOn(this.#store, organizationId)
  }

  /** Throws `plan_required`, `permission_required`, `break_glass_missing` or `invalid_input`. */
  async set(organizationId: OrganizationId, policy: SsoPolicy, actor: Actor): Promise<SsoPolicy> {
    await requireEnterprise(this.#store, organizationId)
    if (policy.breakGlass.length > maxBreakGlass) {
      throw new Problem(
        'invalid_input',
        `There are at most ${maxBreakGlass} owners for emergencies.`,
      )
    }
    return await this.#store.transaction(async (tx) => {
      // Locks the organization, because another transaction may change the other settings in the same column.
      const organization = found(await organizations.find(tx, organizationId, true))
      const before = policyOf(organization)
      await requireOwnersChoice(tx, { organizationId, actor }, { before, policy })
      for (const userId of policy.breakGlass) await requireOwner(tx, organizationId, userId)
      if (policy.required) await requireWayIn(tx, organizationId, policy)
      const after = { required: policy.required, breakGlass: [...new Set(policy.breakGlass)] }
      await organizations.update(tx, organizationId, {
        settings: { ...organization.settings, sso: after },
      })
      await announce(tx, { organizationId, before, after }, actor)
      return after
    })
  }

  async reachOf(
    person: Visitor,
    organization: OrganizationRecord,
    membership: Pick<MembershipRecord, 'role'>,
  ): Promise<Reach> {
    if (person.connectionId !== undefined) {
      const own = await connections.find(this.#store, organization.id, person.connectionId)
      return own !== undefined && own.disabledAt === undefined ? 'reached' : 'elsewhere'
    }
    const { required, breakGlass } = policyOf(organization)
    if (!required || organization.plan !== 'enterprise') return 'reached'
    if (emergencyProviders.includes(person.provider)) return 'reached'
    const isExempt = membership.role === 'owner' && breakGlass.includes(person.userId)
    return isExempt ? 'reached' : 'sso_required'
  }

  async reaches(
    person: Visitor,
    organization: OrganizationRecord,
    membership: Pick<MembershipRecord, 'role'>,
  ): Promise<boolean> {
    const reach = await this.reachOf(person, organization, membership)
    if (reach !== 'sso_required') return reach === 'reached'
    throw new Problem(
      'sso_required',
      'This organization requires its company sign-in. Sign in with your company e-mail address.',
      { members: { organization: organization.slug } },
    )
  }
}

function found(organization: OrganizationRecord | undefined): OrganizationRecord {
  if (organization) return organization
  throw new Problem('not_found', 'There is no such organization.')
}

/**
 * Once any active owner is exempt from company sign-in, only an owner may change the list of exempt owners. Otherwise
 * an administrator could lock out every owner.
 */
async function requireOwnersChoice(
  tx: Tx,
  act: { readonly organizationId: OrganizationId; readonly actor: Actor },
  { before, policy }: { readonly before: SsoPolicy; readonly policy: SsoPolicy },
): Promise<void> {
  const named: UserId[] = []
  for (const userId of before.breakGlass) {
    if (await isActiveOwner(tx, act.organizationId, userId)) named.push(userId)
  }
  const chosen = new Set(policy.breakGlass)
  const isSame = named.length === chosen.size && named.every((userId) => chosen.has(userId))
  if (named.length === 0 || isSame) return
  await requireActingOwner(tx, act, {
    permission: 'owners.manage',
    detail: 'Only an owner changes which owners may sign in another way in an emergency.',
  })
}

async function requireOwner(tx: Tx, organizationId: OrganizationId, userId: UserId): Promise<void> {
  if (await isActiveOwner(tx, organizationId, userId)) return
  throw new Problem('invalid_input', 'Only active owners of the organization can be excepted.')
}

async function requireWayIn(
  tx: Tx,
  organizationId: OrganizationId,
  policy: SsoPolicy,
): Promise<void> {
  if (policy.breakGlass.length === 0) {
    throw new Problem(
      'break_glass_missing',
      'Name at least one owner who may sign in another way in an emergency.',
    )
  }
  const all = await connections.list(tx, organizationId)
  if (!all.some(({ disabledAt }) => disabledAt === undefined)) {
    throw new Problem('invalid_input', 'There is no connection yet that people could sign in with.')
  }
}

async function announce(
  tx: Tx,
  change: { organizationId: OrganizationId; before: SsoPolicy; after: SsoPolicy },
  actor: Actor,
): Promise<void> {
  const { organizationId, before, after } = change
  const all = await connections.list(tx, organizationId)
  const connection = all.find(({ isDefault }) => isDefault) ?? all[0]
  record(tx, {
    organizationId,
    actor,
    action: 'sso.policy_changed',
    subject: { kind: 'organization', id: organizationId },
    detail: { before, after },
  })
  if (connection !== undefined && before.required !== after.required) {
    const { id: connection_id, issuer, name } = connection
    const change = after.required ? 'required' : 'optional'
    publish(tx, {
      organizationId,
      type: 'sso.connection_changed',
      data: { connection_id, issuer, name, change },
    })
  }
  tx.changed({ kind: 'organization', organizationId, subjectId: organizationId })
}
