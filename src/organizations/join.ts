import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId } from '../ids.ts'
import {
  invitations,
  memberships,
  type Actor,
  type InvitationRecord,
  type MembershipRecord,
  type Transaction,
  type UserRecord,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'

/** Uses an invitation up and makes its person a member. `invitation_invalid` (400), `conflict` for who is or was in. */
export async function joinByInvitation(
  tx: Transaction,
  invitation: InvitationRecord,
  user: UserRecord,
  actor: Actor,
): Promise<MembershipRecord> {
  const { organizationId } = invitation
  const accepted = await invitations.accept(tx, organizationId, invitation.id, user.id)
  if (!accepted) {
    throw new Problem('invitation_invalid', 'The invitation was used, withdrawn, or is too old.')
  }
  return await join(
    tx,
    { ...accepted, userId: user.id, source: 'invitation', name: user.name },
    actor,
  )
}

/** Adds a member, and says so. `conflict` for somebody who is in, or was deactivated there. */
export async function join(
  tx: Transaction,
  member: Pick<MembershipRecord, 'organizationId' | 'userId' | 'role' | 'source'> & {
    name: string
    email?: string | undefined
  },
  actor: Actor,
): Promise<MembershipRecord> {
  const { organizationId, userId, role, source } = member
  const id = createId('mem', tx.now)
  const membership = await memberships.insert(tx, { id, organizationId, userId, role, source })
  if (!membership) {
    throw new Problem('conflict', 'This person is a member already, or was deactivated here.')
  }
  record(tx, {
    organizationId,
    actor,
    action: 'member.joined',
    subject: { kind: 'membership', id },
    detail: { user_id: userId, name: member.name, role, source },
  })
  publish(tx, {
    organizationId,
    type: 'member.joined',
    data: {
      membership_id: id,
      user_id: userId,
      name: member.name,
      email: member.email ?? null,
      role,
    },
  })
  tx.changed({ kind: 'membership', organizationId, subjectId: userId })
  return membership
}
