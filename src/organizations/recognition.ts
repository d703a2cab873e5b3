import { Problem } from '../errors.ts'
import type { Clock } from '../clock.ts'
import { createId } from '../ids.ts'
import {
  identities,
  invitations,
  memberships,
  users,
  type Actor,
  type IdentityRecord,
  type Store,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { confirmEmail, insertIdentity } from './identities.ts'
import type { ProvenIdentity } from './identity-proof.ts'
import { joinByInvitation } from './join.ts'
import { nameOf } from './name.ts'
import { recordForPerson } from './audit-entries.ts'

/** The person to whom a proven identity belongs. */
export interface Recognized {
  readonly user: UserRecord
  readonly identityId: string
}

export interface RecognitionDeps {
  readonly store: Store
  readonly clock: Clock
  readonly signUp: 'invited' | 'open'
}

/**
 * Returns the person to whom a proven identity belongs. For an unknown identity, the address must be verified, and
 * there must be an unused account with that address, an invitation, or open sign-up. Throws `sign_in_refused`,
 * `email_not_verified`, `account_exists` (403).
 */
export async function recognize(
  deps: RecognitionDeps,
  proven: ProvenIdentity,
  actor: Actor,
): Promise<Recognized> {
  try {
    return await deps.store.transaction(async (tx) => {
      const known = await identities.find(tx, proven)
      if (known) return await recognizeKnown(tx, known, proven)
      return await welcome({ ...deps, tx }, proven, { ...actor, name: proven.name ?? proven.email })
    })
  } catch (error) {
    if (error instanceof Problem) await recordRefusal(deps, proven, { actor, code: error.code })
    throw error
  }
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
  await confirmEmail(tx, user, proven)
  return { user, identityId: known.id }
}

/** Finds or creates the account for an identity that nobody has used here before. */
async function welcome(
  deps: RecognitionDeps & { readonly tx: Tx },
  proven: ProvenIdentity,
  actor: Actor,
): Promise<Recognized> {
  const { tx } = deps
  const { email } = proven
  if (email === undefined || !proven.emailVerified) {
    throw new Problem(
      'email_not_verified',
      'The provider has not verified your e-mail address. Verify it there and try again.',
    )
  }
  const sameAddress = await users.listByEmail(tx, email)
  const [existing] = sameAddress
  if (existing && sameAddress.length === 1 && (await isUnclaimed(tx, existing))) {
    return await claim(tx, existing, proven)
  }
  if (existing) {
    throw new Problem(
      'account_exists',
      'There is an account with this e-mail address. Sign in the way you did before, then add this identity on your own page.',
    )
  }
  const [newest] = await invitations.listOpenFor(tx, email, tx.now)
  if (!newest && deps.signUp !== 'open') {
    throw new Problem(
      'sign_in_refused',
      'Nobody has invited this e-mail address. Ask an administrator of your organization.',
    )
  }
  const name = nameOf(proven.name ?? email)
  const user = await users.insert(tx, { id: createId('usr', deps.clock.now()), name, email })
  const self: Actor = { ...actor, kind: 'user', id: user.id, name }
  const identity = await insertIdentity(tx, user, { proven, actor: self })
  if (newest) await joinByInvitation(tx, { invitation: newest, user }, self)
  return { user, identityId: identity.id }
}

/**
 * Whether the operator created this account, and nobody has used or deactivated it. A directory may have adopted it in
 * the meantime.
 */
async function isUnclaimed(tx: Tx, user: UserRecord): Promise<boolean> {
  if (user.lastSeenAt !== undefined || user.deactivatedAt !== undefined) return false
  if ((await identities.listOf(tx, user.id)).length > 0) return false
  const joined = await memberships.listOfUser(tx, user.id)
  const sources = user.emailFrom === undefined ? ['operator', 'directory'] : ['operator']
  return joined.length > 0 && joined.every(({ membership }) => sources.includes(membership.source))
}

async function claim(tx: Tx, user: UserRecord, proven: ProvenIdentity): Promise<Recognized> {
  await refuseDeactivated(tx, user)
  const actor: Actor = { kind: 'user', id: user.id, name: user.name }
  const identity = await insertIdentity(tx, user, { proven, actor })
  return { user, identityId: identity.id }
}

/** Throws `sign_in_refused` for somebody who was deactivated, as a person or in every organization they belong to. */
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

/**
 * Records a refused sign-in wherever the person is known, by identity or verified address; strangers leave no entry.
 */
async function recordRefusal(
  { store }: RecognitionDeps,
  proven: ProvenIdentity,
  { actor, code }: { readonly actor: Actor; readonly code: string },
): Promise<void> {
  const { provider, issuer, subject, email, emailVerified } = proven
  await store.transaction(async (tx) => {
    const identity = await identities.find(tx, proven)
    const byAddress = email !== undefined && emailVerified ? await users.listByEmail(tx, email) : []
    const known = identity ? [identity.userId] : byAddress.map(({ id }) => id)
    for (const userId of known) {
      await recordForPerson(
        tx,
        { userId },
        {
          actor: { ...actor, name: proven.name ?? email ?? subject },
          action: 'sign_in.refused',
          detail: { code, provider, issuer, subject },
        },
      )
    }
  })
}
