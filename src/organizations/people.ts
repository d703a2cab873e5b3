import { organizationVouching, type Sessions } from '../access/index.ts'
import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type UserId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import {
  identities,
  invitations,
  memberships,
  users,
  type Actor,
  type IdentityRecord,
  type InvitationRecord,
  type Store,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { createIdentityProofs, type ProofHolder, type ProvenIdentity } from './identity-proof.ts'
import { joinByInvitation } from './join.ts'
import { nameOf } from './name.ts'
import { requireWholeAccount, speaksForAccount } from './own-account.ts'
import type { Visitor } from './session-reach.ts'

/** Whom a proven identity stands for. */
export interface Recognized {
  readonly user: UserRecord
  readonly identityId: string
}

/** Users and their identities. */
export interface People {
  /**
   * The person behind a proven identity (never found by e-mail). An unknown identity with a verified e-mail takes up
   * a pending invitation, or a new account where sign-up is open. `sign_in_refused`, `email_not_verified`,
   * `account_exists` (403).
   */
  recognize(proven: ProvenIdentity, actor: Actor): Promise<Recognized>
  /** A proof that its holder can confirm on their own page. */
  proofOf(proven: ProvenIdentity, holder: ProofHolder): string
  /** What a proof would add. `link_invalid`. */
  lookAtProof(proof: string, holder: ProofHolder): ProvenIdentity
  /** Adds the identity that its person confirms from the session they started with. `link_invalid`, `identity_taken`. */
  addIdentity(proof: string, holder: ProofHolder, actor: Actor): Promise<IdentityRecord>
  /** `not_found`; `conflict` for the last one. */
  removeIdentity(userId: UserId, id: string, actor: Actor): Promise<void>
  /** The person's identities; in a session of an organization's provider, of an account that others have too, only its own. */
  identitiesOf(person: Visitor): Promise<IdentityRecord[]>
  /** Whose sessions a person sees and ends: all, or by the same rule those that the same provider has vouched for. */
  ownSessionsOf(person: Visitor): Promise<{ readonly connectionId: string | undefined }>
  /** `not_found`. */
  get(userId: string): Promise<UserRecord>
  /** `own_sign_in_required`, `version_conflict`. */
  rename(
    person: Visitor,
    wish: { readonly name: string; readonly expectedVersion: number | undefined },
    actor: Actor,
  ): Promise<UserRecord>
  /** People with this e-mail address: for the operator only, an address proves nothing. */
  findByEmail(email: string): Promise<UserRecord[]>
}

/** Opens the people's rules. */
export function createPeople(deps: {
  store: Store
  clock: Clock
  sealer: Sealer
  sessions: Sessions
  signUp: 'invited' | 'open'
}): People {
  const { store, clock } = deps
  const proofs = createIdentityProofs(deps)

  async function recognize(proven: ProvenIdentity, actor: Actor): Promise<Recognized> {
    try {
      return await recognizeOrRefuse(proven, actor)
    } catch (error) {
      if (error instanceof Problem) await noteRefused(store, proven, actor, error.code)
      throw error
    }
  }

  async function recognizeOrRefuse(proven: ProvenIdentity, actor: Actor): Promise<Recognized> {
    return await store.transaction(async (tx) => {
      const known = await identities.find(tx, proven)
      return known
        ? await recognizeKnown(tx, known, proven)
        : await welcome(tx, proven, { ...actor, name: proven.name ?? proven.email })
    })
  }

  async function recognizeKnown(
    tx: Tx,
    known: IdentityRecord,
    proven: ProvenIdentity,
  ): Promise<Recognized> {
    const user = await users.find(tx, known.userId)
    if (!user) throw new Error(`identity ${known.id} belongs to nobody`)
    await refuseDeactivated(tx, user)
    await identities.noteUse(tx, known.id, proven)
    await noteProof(tx, user, proven)
    return { user, identityId: known.id }
  }

  async function welcome(tx: Tx, proven: ProvenIdentity, actor: Actor): Promise<Recognized> {
    const { email } = proven
    if (email === undefined || !proven.emailVerified) {
      throw new Problem(
        'email_not_verified',
        'The provider has not verified your e-mail address. Verify it there and try again.',
      )
    }
    const sameAddress = await users.listByEmail(tx, email)
    const [unclaimed] = sameAddress
    const invited = await invitations.listOpenFor(tx, email, tx.now)
    if (unclaimed && sameAddress.length === 1 && (await isUnclaimed(tx, unclaimed))) {
      return await claim(tx, unclaimed, proven)
    }
    if (unclaimed) {
      throw new Problem(
        'account_exists',
        'There is an account with this e-mail address. Sign in the way you did before, then add this identity on your own page.',
      )
    }
    if (invited.length === 0 && deps.signUp !== 'open') {
      throw new Problem(
        'sign_in_refused',
        'Nobody has invited this e-mail address. Ask an administrator of your organization.',
      )
    }
    return await admit(tx, { proven, email, invited }, actor)
  }

  /**
   * Whether the operator made this account and nobody has ever used it: no identity, no session. A directory that has
   * adopted the member since changes nothing about that.
   */
  async function isUnclaimed(tx: Tx, user: UserRecord): Promise<boolean> {
    if (user.lastSeenAt !== undefined || user.deactivatedAt !== undefined) return false
    if ((await identities.listOf(tx, user.id)).length > 0) return false
    const joined = await memberships.listOfUser(tx, user.id)
    const sources = user.emailFrom === undefined ? ['operator', 'directory'] : ['operator']
    return (
      joined.length > 0 && joined.every(({ membership }) => sources.includes(membership.source))
    )
  }

  async function claim(tx: Tx, user: UserRecord, proven: ProvenIdentity): Promise<Recognized> {
    await refuseDeactivated(tx, user)
    const identity = await insertIdentity(tx, user, proven)
    await noteIdentity(tx, user, identity, {
      kind: 'user',
      id: user.id,
      name: user.name,
    })
    return { user, identityId: identity.id }
  }

  async function admit(
    tx: Tx,
    newcomer: { proven: ProvenIdentity; email: string; invited: InvitationRecord[] },
    actor: Actor,
  ): Promise<Recognized> {
    const { proven, email } = newcomer
    const id = createId('usr', clock.now())
    const name = nameOf(proven.name ?? email)
    const user = await users.insert(tx, { id, name, email })
    const identity = await insertIdentity(tx, user, proven)
    const self: Actor = { ...actor, kind: 'user', id: user.id, name }
    const [newest] = newcomer.invited
    if (newest) await joinByInvitation(tx, newest, user, self)
    return { user, identityId: identity.id }
  }

  return {
    recognize,
    async identitiesOf(person) {
      const all = await identities.listOf(store, person.userId)
      if (await speaksForAccount(store, person)) return all
      return all.filter(({ connectionId }) => connectionId === person.connectionId)
    },
    async ownSessionsOf(person) {
      const speaks = await speaksForAccount(store, person)
      return { connectionId: speaks ? undefined : person.connectionId }
    },
    findByEmail: async (email) => await users.listByEmail(store, email),
    async get(userId) {
      const user = await users.find(store, userId)
      if (!user) throw new Problem('not_found', 'There is no such person.')
      return user
    },
    proofOf: (proven, holder) => proofs.make(proven, holder),
    lookAtProof: (proof, holder) => proofs.look(proof, holder),
    async addIdentity(proof, holder, actor) {
      const { userId } = holder
      const proven = await proofs.use(proof, holder)
      return await store.transaction(async (tx) => {
        const known = await identities.find(tx, proven)
        if (known?.userId === userId) return known
        if (known) throw taken()
        const user = await users.find(tx, userId)
        if (!user) throw new Problem('not_found', 'There is no such person.')
        const identity = await insertIdentity(tx, user, proven)
        await noteIdentity(tx, user, identity, actor)
        return identity
      })
    },
    async removeIdentity(userId, id, actor) {
      await store.transaction(async (tx) => {
        const all = await identities.listOf(tx, userId)
        const gone = all.find((identity) => identity.id === id)
        if (!gone) throw new Problem('not_found', 'You have no such identity.')
        // One that a company's provider vouches for concerns that organization alone.
        const only = await organizationVouching(tx, {
          connectionId: gone.connectionId === '' ? undefined : gone.connectionId,
        })
        const living = await identities.listLiving(tx, userId)
        // What no longer signs anybody in can always go.
        if (living.length === 1 && living[0]?.id === id) {
          throw new Problem('conflict', 'This is your only way to sign in; add another one first.')
        }
        await identities.remove(tx, userId, id)
        for (const { organization } of await memberships.listOfUser(tx, userId)) {
          if (only !== undefined && only !== organization.id) continue
          record(tx, {
            organizationId: organization.id,
            actor,
            action: 'identity.removed',
            subject: { kind: 'user', id: userId },
            detail: { identity_id: id },
          })
        }
        await deps.sessions.endIn(
          tx,
          { userId, which: {} },
          { by: actor.id, reason: 'identity_removed' },
        )
      })
    },
    async rename(person, { name, expectedVersion }, actor) {
      const { userId } = person
      await requireWholeAccount(store, person)
      return await store.transaction(async (tx) => {
        const user = await users.update(tx, userId, { name: nameOf(name), expectedVersion })
        if (!user) throw new Problem('version_conflict', 'Your profile was changed meanwhile.')
        for (const { organization } of await memberships.listOfUser(tx, userId)) {
          record(tx, {
            organizationId: organization.id,
            actor,
            action: 'user.renamed',
            subject: { kind: 'user', id: userId },
            detail: { name: user.name },
          })
        }
        tx.changed({ kind: 'user', organizationId: 'system', subjectId: userId })
        return user
      })
    },
  }
}

/** A refused sign-in is news where the person is known: by the identity, or by a verified address. Strangers leave nothing. */
async function noteRefused(
  store: Store,
  proven: ProvenIdentity,
  actor: Actor,
  code: string,
): Promise<void> {
  await store.transaction(async (tx) => {
    const identity = await identities.find(tx, proven)
    const byAddress =
      proven.email !== undefined && proven.emailVerified
        ? await users.listByEmail(tx, proven.email)
        : []
    const whose = identity ? [identity.userId] : byAddress.map(({ id }) => id)
    for (const userId of whose) {
      for (const { organization } of await memberships.listOfUser(tx, userId)) {
        const { provider, issuer, subject } = proven
        record(tx, {
          organizationId: organization.id,
          actor: { ...actor, name: proven.name ?? proven.email ?? subject },
          action: 'sign_in.refused',
          subject: { kind: 'user', id: userId },
          detail: { code, provider, issuer, subject },
        })
      }
    }
  })
}

/** No way back in for somebody who was deactivated, everywhere or in all they belonged to. */
async function refuseDeactivated(tx: Tx, user: UserRecord): Promise<void> {
  const joined = await memberships.listOfUser(tx, user.id)
  const nowhere =
    joined.length > 0 && joined.every(({ membership }) => membership.deactivatedAt !== undefined)
  if (user.deactivatedAt === undefined && !nowhere) return
  throw new Problem(
    'sign_in_refused',
    'This account is deactivated. Ask an administrator of your organization.',
  )
}

async function insertIdentity(
  tx: Tx,
  user: UserRecord,
  proven: ProvenIdentity,
): Promise<IdentityRecord> {
  const id = createId('idn', tx.now)
  const identity = await identities.insert(tx, { ...proven, id, userId: user.id })
  if (!identity) throw taken()
  await noteProof(tx, user, proven)
  return identity
}

/** An address that an organization wrote counts everywhere once its person has proven it themselves. */
async function noteProof(tx: Tx, user: UserRecord, proven: ProvenIdentity): Promise<void> {
  if (user.emailFrom === undefined || user.email === undefined || !proven.emailVerified) return
  if (proven.email === undefined) return
  if (users.emailKey(proven.email) !== users.emailKey(user.email)) return
  await users.update(tx, user.id, { emailFrom: null })
}

async function noteIdentity(
  tx: Tx,
  user: UserRecord,
  identity: IdentityRecord,
  actor: Actor,
): Promise<void> {
  for (const { organization } of await memberships.listOfUser(tx, user.id)) {
    record(tx, {
      organizationId: organization.id,
      actor,
      action: 'identity.added',
      subject: { kind: 'user', id: user.id },
      detail: { provider: identity.provider, issuer: identity.issuer, subject: identity.subject },
    })
  }
}

function taken(): Problem {
  return new Problem('identity_taken', 'This identity belongs to another account here.')
}
