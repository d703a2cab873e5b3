import type { Session } from '../../api/shapes.ts'
import { membersWords } from '../../../words/en/members.ts'
import { Button } from '../../parts/Button.tsx'
import { Item, Items, Tag } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { agentName } from './agent.ts'

const w = membersWords.session

/** The current session has no button, because ending it would mean signing out. */
export function SessionList({
  sessions,
  onEnd,
  busy,
}: {
  readonly sessions: readonly Session[]
  readonly onEnd: (id: string) => void
  readonly busy: boolean
}) {
  const sorted = [...sessions].sort(
    (one, other) =>
      Number(other.current) - Number(one.current) ||
      other.last_seen_at.localeCompare(one.last_seen_at),
  )
  return (
    <Items>
      {sorted.map((session) => (
        <Item
          key={session.id}
          action={
            session.current ? undefined : (
              <Button
                small
                busy={busy}
                aria-label={`${w.end}: ${agentName(session.agent) ?? w.unknownAgent}`}
                onClick={() => onEnd(session.id)}
              >
                {w.end}
              </Button>
            )
          }
        >
          <span className="row">
            <strong title={session.agent}>{agentName(session.agent) ?? w.unknownAgent}</strong>
            {session.current ? <Tag>{w.thisDevice}</Tag> : undefined}
          </span>
          <p className="muted">
            {w.from(session.address ?? w.unknownAddress)},{' '}
            {w.by(w.providers[session.provider] ?? session.provider)}{' '}
            <Time at={session.started_at} form="relative" />, {w.seen}{' '}
            <Time at={session.last_seen_at} form="relative" />
          </p>
        </Item>
      ))}
    </Items>
  )
}
