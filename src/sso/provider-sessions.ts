import { record } from '../audit/index.ts'
import type { SessionId, UserId } from '../ids.ts'
import { digest } from '../secrets/index.ts'
import { minuteMs } from '../units.ts'
import {
  providerSessions,
  sessions,
  usedOnce,
  type Actor,
  type ConnectionId,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { fault, type Logout } from '../oidc/index.ts'

/** Replay protection: the id of a logout token is remembered for longer than any token is accepted. */
const rememberedForMs = 30 * minuteMs

/** Ends every session that a connection has started; returns their number. */
export async function endSessionsOf(
  tx: Tx,
  connection: { id: ConnectionId; organizationId: string },
  actor: Actor,
): Promise<number> {
  const made = await providerSessions.listOfConnection(tx, connection.id, tx.now)
  const whose = [...new Set(made.map(({ userId }) => userId))]
  let ended = 0
  for (const userId of whose) {
    const which = { connectionId: connection.id }
    const why = { by: actor.id, reason: 'connection_off' }
    const gone = await sessions.end(tx, { userId, which, why })
    for (const { id } of gone)
      announceEnd(tx, connection.organizationId, { id, userId, reason: why.reason })
    ended += gone.length
  }
  return ended
}

/**
 * Ends the sessions that a provider's logout token names (OpenID Connect Back-Channel Logout 1.0, section 2.7);
 * returns how many. Throws `logout_token_invalid` if the token was used before.
 */
export async function endByProvider(
  store: Store,
  connection: { id: ConnectionId; organizationId: string; name: string },
  logout: Logout,
): Promise<number> {
  const { organizationId } = connection
  const { result } = await store.transactionConfirmed(async (tx) => {
    const tokenDigest = digest(`logout ${connection.id} ${logout.tokenId}`)
    if (!(await usedOnce.use(tx, tokenDigest, tx.now + rememberedForMs))) {
      throw fault('logout_replayed', 'logout_token')
    }
    const named = await providerSessions.list(tx, connection.id, logout)
    let ended = 0
    for (const { sessionId, userId } of named) {
      const why = { by: undefined, reason: 'ended_by_provider' }
      const gone = await sessions.end(tx, { userId, which: { id: sessionId }, why })
      for (const { id } of gone) announceEnd(tx, organizationId, { id, userId, reason: why.reason })
      ended += gone.length
    }
    if (ended > 0) {
      record(tx, {
        organizationId,
        actor: { kind: 'system', name: connection.name },
        action: 'sso.logged_out',
        subject: { kind: 'connection', id: connection.id },
        detail: { sessions: ended, subject: logout.subject ?? null },
      })
    }
    return ended
  })
  return result
}

function announceEnd(
  tx: Tx,
  organizationId: string,
  session: { readonly id: SessionId; readonly userId: UserId; readonly reason: string },
): void {
  tx.changed({ kind: 'session', organizationId: 'system', subjectId: session.id })
  publish(tx, {
    organizationId,
    type: 'session.revoked',
    data: { session_id: session.id, user_id: session.userId, reason: session.reason },
  })
}
