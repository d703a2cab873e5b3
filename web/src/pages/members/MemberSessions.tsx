import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { memberSessionsQuery } from '../../api/members.ts'
import { membersWords } from '../../../words/en/members.ts'
import { Button } from '../../parts/Button.tsx'
import { duration } from '../../parts/numbers.ts'
import { QueryState } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { SessionList } from './SessionList.tsx'

const w = membersWords

export function MemberSessions({
  organization,
  member,
}: {
  readonly organization: string
  readonly member: string
}) {
  const client = useQueryClient()
  const sessions = useQuery(memberSessionsQuery(organization, member))
  const end = useMutation({
    mutationFn: (session: string | undefined) =>
      session === undefined
        ? call('DELETE /organizations/:organization/members/:member/sessions', {
            path: { organization, member },
          })
        : call('DELETE /organizations/:organization/members/:member/sessions/:session', {
            path: { organization, member, session },
          }),
    onError: sayRefused,
    onSuccess: (ended) => {
      say(w.session.ended(ended.sessions), {
        text: w.session.proof(ended.confirmation.nodes, duration(ended.confirmation.took_ms)),
      })
      void client.invalidateQueries({ queryKey: [organization, 'members', member, 'sessions'] })
    },
  })
  const items = sessions.data?.items
  return (
    <Card
      flush
      title={w.member.sessions}
      lead={w.member.sessionsLead}
      actions={
        items !== undefined && items.length > 1 ? (
          <Button small look="danger" busy={end.isPending} onClick={() => end.mutate(undefined)}>
            {w.member.endAll}
          </Button>
        ) : undefined
      }
    >
      {items === undefined ? (
        <QueryState query={sessions} padded />
      ) : items.length === 0 ? (
        <p className="pad muted">{w.member.noSessions}</p>
      ) : (
        <SessionList sessions={items} busy={end.isPending} onEnd={(id) => end.mutate(id)} />
      )}
    </Card>
  )
}
