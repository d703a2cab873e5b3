import { record } from '../../audit/index.ts'
import { connections, memberships, users, type SessionRecord, type Tx } from '../../store/index.ts'

/** The organizations that sessions reach as far as who vouched for them decides it; undefined = all of the person's. */
export async function organizationVouching(
  tx: Tx,
  { connectionId }: Pick<SessionRecord, 'connectionId'>,
): Promise<string | undefined> {
  if (connectionId === undefined) return undefined
  return (await connections.findForSignIn(tx, connectionId))?.organizationId ?? 'none'
}

/**
 * A sign-in is news in every organization that its session reaches: where and when somebody works elsewhere is nothing
 * that this organization's members may see.
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
