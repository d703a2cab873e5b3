import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { invitationsQuery } from '../../api/members.ts'
import type { Invitation } from '../../api/shapes.ts'
import { membersWords as w } from '../../../words/en/members.ts'
import { words } from '../../../words/en.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, onPhone, type Column } from '../../parts/DataTable.tsx'
import { Empty } from '../../parts/States.tsx'
import { Badge } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'

const tones = { open: 'caution', accepted: 'pass', revoked: 'plain', expired: 'plain' } as const

export function Invitations({
  organization,
  onInvite,
}: {
  readonly organization: string
  readonly onInvite: () => void
}) {
  const client = useQueryClient()
  const list = useInfiniteQuery(invitationsQuery(organization))
  const withdraw = useMutation({
    mutationFn: (invitation: string) =>
      call('DELETE /organizations/:organization/invitations/:invitation', {
        path: { organization, invitation },
      }),
    onError: sayRefused,
    onSuccess: () => {
      say(w.withdrawn)
      void client.invalidateQueries({ queryKey: [organization, 'invitations'] })
    },
  })
  return (
    <DataTable
      label={w.invitations}
      columns={[...facts, withdrawal((invitation) => withdraw.mutate(invitation))]}
      rows={list.data?.pages.flatMap((page) => page.items) ?? []}
      rowId={(one) => one.id}
      list={list}
      empty={
        <Empty title={w.noInvitations}>
          <p>{w.noInvitationsText}</p>
          <Button look="primary" onClick={onInvite}>
            {w.invite}
          </Button>
        </Empty>
      }
    />
  )
}

const facts: readonly Column<Invitation>[] = [
  {
    id: 'email',
    head: w.columns.email,
    wraps: true,
    cell: (one) => (
      <>
        {one.email}
        <span className={onPhone}>
          {words.roles[one.role]}, {w.invitationStates[one.state]}
        </span>
      </>
    ),
  },
  {
    id: 'role',
    head: w.columns.role,
    width: '110px',
    hide: 'phone',
    cell: (one) => words.roles[one.role],
  },
  {
    id: 'state',
    head: w.columns.state,
    width: '120px',
    hide: 'phone',
    cell: (one) => <Badge tone={tones[one.state]}>{w.invitationStates[one.state]}</Badge>,
  },
  {
    id: 'invited',
    head: w.columns.invited,
    width: '130px',
    hide: 'narrow',
    cell: (one) => <Time at={one.created_at} form="relative" />,
  },
  {
    id: 'expires',
    head: w.columns.expires,
    width: '130px',
    hide: 'narrow',
    cell: (one) => <Time at={one.expires_at} form="relative" />,
  },
]

function withdrawal(withdraw: (invitation: string) => void): Column<Invitation> {
  return {
    id: 'withdraw',
    head: '',
    width: '110px',
    end: true,
    cell: (one) =>
      one.state === 'open' ? (
        <Button small aria-label={`${w.withdraw} ${one.email}`} onClick={() => withdraw(one.id)}>
          {w.withdraw}
        </Button>
      ) : undefined,
  }
}
