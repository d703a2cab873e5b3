import type { Caller } from '../core/caller.ts'
import { Type, type Static } from '../../http/index.ts'
import type { SessionRecord } from '../../store/index.ts'
import { nullable, Time, time } from '../core/schemas.ts'

export const Session = Type.Object(
  {
    id: Type.String(),
    provider: Type.String(),
    address: nullable(Type.String()),
    agent: nullable(Type.String()),
    started_at: Time,
    last_seen_at: Time,
    expires_at: Time,
    /** Whether this request was made with this session. */
    current: Type.Boolean(),
  },
  { title: 'Session' },
)

export function toSession(session: SessionRecord, caller: Caller): Static<typeof Session> {
  return {
    id: session.id,
    provider: session.provider,
    address: session.address ?? null,
    agent: session.agent ?? null,
    started_at: time(session.signedInAt),
    last_seen_at: time(session.lastSeenAt),
    expires_at: time(session.expiresAt),
    current: caller.kind === 'person' && session.id === caller.person.sessionId,
  }
}
