import { organizationVouching, requireOwnSignIn } from '../access/index.ts'
import { memberships, type Db } from '../store/index.ts'
import type { Visitor } from './session-reach.ts'

/**
 * A session through an organization's provider may act on the whole account only if the person belongs to no other
 * organization: otherwise the provider's administrators could act as the person elsewhere.
 */
export async function speaksForAccount(db: Db, person: Visitor): Promise<boolean> {
  const vouching = await organizationVouching(db, person)
  if (vouching === undefined) return true
  const joined = await memberships.listOfUser(db, person.userId)
  return joined.every(({ organization }) => organization.id === vouching)
}

/** Throws `own_sign_in_required` for a session that may not act on the whole account. */
export async function requireWholeAccount(db: Db, person: Visitor): Promise<void> {
  if (!(await speaksForAccount(db, person))) requireOwnSignIn(person)
}
