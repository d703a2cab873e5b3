import { requireOwnSignIn } from '../access/index.ts'
import type { OrganizationId } from '../ids.ts'
import { connections, memberships, type Db } from '../store/index.ts'
import type { Visitor } from './session-reach.ts'

/** The organization whose provider vouched for a session; undefined for a sign-in of the person's own. */
export async function organizationBehind(
  db: Db,
  { connectionId }: Pick<Visitor, 'connectionId'>,
): Promise<OrganizationId | 'none' | undefined> {
  if (connectionId === undefined) return undefined
  return (await connections.findForSignIn(db, connectionId))?.organizationId ?? 'none'
}

/**
 * Whether a session speaks for the whole account. One that an organization's provider vouched for does so only where the
 * person is a member of no other: else that organization's administrators could act as the person beyond it.
 */
export async function speaksForAccount(db: Db, person: Visitor): Promise<boolean> {
  const behind = await organizationBehind(db, person)
  if (behind === undefined) return true
  const joined = await memberships.listOfUser(db, person.userId)
  return joined.every(({ organization }) => organization.id === behind)
}

/** Refuses a session that does not speak for the whole account: `own_sign_in_required`. */
export async function requireWholeAccount(db: Db, person: Visitor): Promise<void> {
  if (!(await speaksForAccount(db, person))) requireOwnSignIn(person)
}
