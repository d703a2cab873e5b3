import { organizationVouching, type Sessions } from '../access/index.ts'
import { Problem } from '../errors.ts'
import { createId, type UserId } from '../ids.ts'
import {
  identities,
  users,
  type Actor,
  type IdentityRecord,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import type { ProvenIdentity } from './identity-proof.ts'
import { recordForPerson } from './audit-entries.ts'

/**
 * Adds a proven identity to a person's account; adding it again changes nothing. Throws `identity_taken`, `not_found`.
 */
export async function linkIdentity(
  tx: Tx,
  userId: UserId,
  { proven, actor }: { readonly proven: ProvenIdentity; readonly actor: Actor },
): Promise<IdentityRecord> {
  const known = await identities.find(tx, proven)
  if (known?.userId === userId) return known
  if (known) throw taken()
  const user = await users.find(tx, userId)
  if (!user) throw new Problem('not_found', 'There is no such person.')
  return await insertIdentity(tx, user, { proven, actor })
}

/** Inserts an identity that nobody has yet. Throws `identity_taken` if somebody else was faster. */
export async function insertIdentity(
  tx: Tx,
  user: UserRecord,
  { proven, actor }: { readonly proven: ProvenIdentity; readonly actor: Actor },
): Promise<IdentityRecord> {
  const id = createId('idn', tx.now)
  const identity = await identities.insert(tx, { ...proven, id, userId: user.id })
  if (!identity) throw taken()
  await confirmEmail(tx, user, proven)
  const { provider, issuer, subject } = identity
  const detail = { provider, issuer, subject }
  await recordForPerson(tx, { userId: user.id }, { actor, action: 'identity.added', detail })
  return identity
}

/**
 * If one organization supplied the person's e-mail address and this identity proves it, makes the address count in
 * every organization.
 */
export async function confirmEmail(
  tx: Tx,
  user: UserRecord,
  { email, emailVerified }: ProvenIdentity,
): Promise<void> {
  if (user.emailFrom === undefined || user.email === undefined) return
  if (email === undefined || !emailVerified) return
  if (users.emailKey(email) !== users.emailKey(user.email)) return
  await users.update(tx, user.id, { emailFrom: null })
}

/**
 * Removes one of a person's identities and ends all of the person's sessions. Throws `not_found`, or `conflict` for the
 * only identity with which the person can still sign in.
 */
export async function removeIdentity(
  { tx, sessions }: { readonly tx: Tx; readonly sessions: Sessions },
  { userId, id }: { readonly userId: UserId; readonly id: string },
  actor: Actor,
): Promise<void> {
  await identities.lockOf(tx, userId)
  const gone = (await identities.listOf(tx, userId)).find((identity) => identity.id === id)
  if (!gone) throw new Problem('not_found', 'You have no such identity.')
  // An identity that can no longer be used to sign in may be removed even if it is the last one.
  const usable = await identities.listLiving(tx, userId)
  if (usable.length === 1 && usable[0]?.id === id) {
    throw new Problem('conflict', 'This is your only way to sign in; add another one first.')
  }
  // An identity from an organization's own provider concerns that organization alone.
  const connectionId = gone.connectionId === '' ? undefined : gone.connectionId
  const only = await organizationVouching(tx, { connectionId })
  await identities.remove(tx, userId, id)
  const detail = { identity_id: id }
  await recordForPerson(tx, { userId, only }, { actor, action: 'identity.removed', detail })
  await sessions.endIn(tx, { userId, which: {} }, { by: actor.id, reason: 'identity_removed' })
}

function taken(): Problem {
  return new Problem('identity_taken', 'This identity belongs to another account here.')
}
