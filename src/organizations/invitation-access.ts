import { organizationVouching, type SignedIn } from '../access/index.ts'
import { connections, identities, type Db, type InvitationRecord } from '../store/index.ts'

/** A person's verified address, and which invitations to it the person may accept. */
export interface VerifiedAddress {
  readonly email: string
  readonly opens: (invitation: InvitationRecord) => boolean
}

/**
 * Returns the addresses that a person's providers have verified; addresses that the person typed do not count. An
 * address verified by an organization's own provider opens only that organization's invitations. To open one with the
 * role `owner`, an owner must have set up the connection, and the identity must not be waiting for an owner to confirm
 * it. A session through an organization's own provider opens no other organization's invitations, whatever else the
 * person has proven.
 */
export async function verifiedAddressesOf(db: Db, person: SignedIn): Promise<VerifiedAddress[]> {
  const addresses: VerifiedAddress[] = []
  const vouching = await organizationVouching(db, person)
  for (const identity of await identities.listLiving(db, person.userId)) {
    const { email, emailVerified, connectionId, awaitsOwner } = identity
    if (!emailVerified || email === undefined) continue
    const connection =
      connectionId === '' ? undefined : await connections.findForSignIn(db, connectionId)
    const isOwners = connection?.setByOwner === true && awaitsOwner === undefined
    addresses.push({
      email,
      opens: ({ organizationId, role }) =>
        (vouching === undefined || vouching === organizationId) &&
        (connectionId === '' ||
          (connection?.organizationId === organizationId && (role !== 'owner' || isOwners))),
    })
  }
  return addresses
}
