import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Member } from '../../api/shapes.ts'
import { membersWords } from '../../../words/en/members.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'

const w = membersWords.member

interface ActionProps {
  readonly organization: string
  readonly it: Member
}

export function MemberActions(props: ActionProps) {
  return (
    <>
      <Activity {...props} />
      <Removal {...props} />
    </>
  )
}

function Activity({ organization, it }: ActionProps) {
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  const path = { organization, member: it.id }
  const turn = useMutation({
    mutationFn: (on: boolean) =>
      call('PATCH /organizations/:organization/members/:member', { path, body: { active: on } }),
    onSuccess: (_, on) => {
      setAsking(false)
      say(on ? w.reactivated : w.deactivated, {
        ...(on ? {} : { undo: () => turn.mutate(true, { onError: sayRefused }) }),
      })
      void client.invalidateQueries({ queryKey: [organization, 'members'] })
    },
  })
  return (
    <>
      {it.deactivated_at === undefined ? (
        <Button onClick={() => setAsking(true)}>{w.deactivate}</Button>
      ) : (
        <Button busy={turn.isPending} onClick={() => turn.mutate(true, { onError: sayRefused })}>
          {w.reactivate}
        </Button>
      )}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.deactivateTitle(it.name)}
        action={w.deactivate}
        saving={turn}
        onConfirm={() => turn.mutate(false)}
      >
        <p>{w.deactivateText}</p>
      </ConfirmDialog>
    </>
  )
}

function Removal({ organization, it }: ActionProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const path = { organization, member: it.id }
  const remove = useMutation({
    mutationFn: () => call('DELETE /organizations/:organization/members/:member', { path }),
    onSuccess: async (ended) => {
      say(w.removedTitle, { text: w.removed(ended.sessions, ended.keys) })
      await navigate({ to: '/o/$organization/members', params: { organization } })
      await client.invalidateQueries({ queryKey: [organization, 'members'] })
    },
  })
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {w.remove}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.removeTitle(it.name)}
        action={w.remove}
        typed={it.email ?? it.name}
        saving={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>{w.removeText}</p>
      </ConfirmDialog>
    </>
  )
}
