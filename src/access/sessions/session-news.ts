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
 * Returns the id of the only organization that a session through a connection reaches, or `none` if that connection is
 * gone; undefined for a session that reaches all organizations of the person.
 */
export async function organizationVouching(
  db: Db,
  { connectionId }: Pick<SessionRecord, 'connectionId'>,
): Promise<string | undefined> {
  if (connectionId === undefined) return undefined
  return (await connections.findForSignIn(db, connectionId))?.organizationId ?? 'none'
}

/**
 * Records a sign-in in each organization that the session reaches, and in no other: members must not see when and from
 * where a colleague signs in elsewhere.
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
