import { Problem } from '../errors.ts'
import {
  invitations,
  type Actor,
  type InvitationRecord,
  type MembershipRecord,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { join } from './member-lifecycle.ts'

/**
 * Makes a person a member by an invitation, once. Throws `invitation_invalid` (400), or `conflict` if the person is a
 * member already or was deactivated there.
 */
export async function joinByInvitation(
  tx: Tx,
  { invitation, user }: { readonly invitation: InvitationRecord; readonly user: UserRecord },
  actor: Actor,
): Promise<MembershipRecord> {
  const { organizationId, id } = invitation
  const accepted = await invitations.accept(tx, { organizationId, id }, user.id)
  if (!accepted) {
    throw new Problem('invitation_invalid', 'The invitation was used, withdrawn, or is too old.')
  }
  return await join(
    tx,
    { ...accepted, userId: user.id, source: 'invitation', name: user.name },
    actor,
  )
}
