import { organizationVouching, type SignedIn } from '../access/index.ts'
import { connections, identities, type Db, type InvitationRecord } from '../store/index.ts'

/** A verified address of somebody's, and which invitations to it they may accept. */
export interface VerifiedAddress {
  readonly email: string
  readonly opens: (invitation: InvitationRecord) => boolean
}

/**
 * The addresses that a person's providers have verified; what they typed themselves counts for nothing. An
 * organization's own provider opens that organization's invitations only, and one as owner only if an owner set the
 * connection up. A session it vouched for accepts no other organization's, whatever else the person has proven.
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
