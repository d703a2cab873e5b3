import type { SignedIn } from '../../access/index.ts'
import { Type, type Static } from '../../http/index.ts'
import type { SessionRecord } from '../../store/index.ts'
import { nullable, Time, time } from '../core/schemas.ts'

export const Session = Type.Object(
  {
    id: Type.String(),
    provider: Type.String(),
    address: nullable(Type.String()),
    agent: nullable(Type.String()),
    startedAt: Time,
    lastSeenAt: Time,
    expiresAt: Time,
    /** Whether it is the session that asks. */
    current: Type.Boolean(),
  },
  { title: 'Session' },
)

/** A session as it is answered. */
export function toSession(session: SessionRecord, person: SignedIn): Static<typeof Session> {
  return {
    id: session.id,
    provider: session.provider,
    address: session.address ?? null,
    agent: session.agent ?? null,
    startedAt: time(session.signedInAt),
    lastSeenAt: time(session.lastSeenAt),
    expiresAt: time(session.expiresAt),
    current: session.id === person.sessionId,
  }
}
