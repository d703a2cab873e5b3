import type { SessionId, UserId } from '../ids.ts'
import type { Tx } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'

/** Announces a person's ended sessions to one of that person's organizations. */
export function announceEnded(
  tx: Tx,
  of: { readonly organizationId: string; readonly userId: UserId },
  ended: { readonly sessions: readonly { readonly id: SessionId }[]; readonly reason: string },
): void {
  for (const { id } of ended.sessions) {
    publish(tx, {
      organizationId: of.organizationId,
      type: 'session.revoked',
      data: { session_id: id, user_id: of.userId, reason: ended.reason },
    })
  }
}
