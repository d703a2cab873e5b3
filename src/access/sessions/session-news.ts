import { record } from '../../audit/index.ts'
import {
  connections,
  memberships,
  users,
  type Db,
  type SessionRecord,
  type Tx,
} from '../../store/index.ts'

/**
 * Returns the id of the organization to which a session's connection belongs, or `none` if that connection is gone;
 * undefined for a session without a connection.
 */
export async function organizationVouching(
  db: Db,
  { connectionId }: Pick<SessionRecord, 'connectionId'>,
): Promise<string | undefined> {
  if (connectionId === undefined) return undefined
  return (await connections.findForSignIn(db, connectionId))?.organizationId ?? 'none'
}

/**
 * Records a sign-in in the organization through whose connection the person signed in, and in no other: members must
 * not see when and from where a colleague signs in elsewhere. Without a connection, records it in every organization in
 * which the person is an active member.
 */
export async function recordStart(
  tx: Tx,
  session: SessionRecord,
  requestId: string | undefined,
): Promise<void> {
  const { userId, address } = session
  const user = await users.find(tx, userId)
  const only = await organizationVouching(tx, session)
  for (const { organization, membership } of await memberships.listOfUser(tx, userId)) {
    if (membership.deactivatedAt !== undefined) continue
    if (only !== undefined && only !== organization.id) continue
    record(tx, {
      organizationId: organization.id,
      actor: { kind: 'user', id: userId, name: user?.name, address, requestId },
      action: 'session.started',
      subject: { kind: 'session', id: session.id },
      detail: { provider: session.provider },
    })
  }
}
