import { organizationVouching, type SignedIn } from '../access/index.ts'
import { connections, identities, type Db, type InvitationRecord } from '../store/index.ts'

/** A person's verified address, and which invitations to it the person may accept. */
export interface VerifiedAddress {
  readonly email: string
  readonly opens: (invitation: InvitationRecord) => boolean
}

/**
 * Returns the addresses that a person's providers have verified. Neither an address nor a session that an
 * organization's own provider vouched for opens another organization's invitations.
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
