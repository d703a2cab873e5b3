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

/** Uses an invitation up and makes its person a member. `invitation_invalid` (400), `conflict` for who is or was in. */
export async function joinByInvitation(
  tx: Tx,
  invitation: InvitationRecord,
  user: UserRecord,
  actor: Actor,
): Promise<MembershipRecord> {
  const { organizationId } = invitation
  const accepted = await invitations.accept(tx, {
    organizationId,
    id: invitation.id,
    acceptedBy: user.id,
  })
  if (!accepted) {
    throw new Problem('invitation_invalid', 'The invitation was used, withdrawn, or is too old.')
  }
  return await join(
    tx,
    { ...accepted, userId: user.id, source: 'invitation', name: user.name },
    actor,
  )
}
