import type { SessionId, UserId } from '../ids.ts'
import type { Tx } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'

/** Announces sessions that somebody else or a rule ended, to an organization that the person belongs to. */
export function announceEnded(
  tx: Tx,
  of: { readonly organizationId: string; readonly userId: UserId },
  sessions: readonly { readonly id: SessionId }[],
  reason: string,
): void {
  for (const { id } of sessions) {
    publish(tx, {
      organizationId: of.organizationId,
      type: 'session.revoked',
      data: { session_id: id, user_id: of.userId, reason },
    })
  }
}
