import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Role } from '../../api/shapes.ts'
import { membersWords as w } from '../../../words/en/members.ts'
import { words } from '../../../words/en.ts'
import { useOrganization } from '../../frame/membership.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { TextField } from '../../parts/Field.tsx'
import { SecretDialog } from '../../parts/SecretDialog.tsx'
import { fieldError } from '../../parts/States.tsx'
import { Notice } from '../../parts/Surface.tsx'
import { RoleChoice } from './RoleChoice.tsx'

interface InviteProps {
  readonly organization: string
  readonly onClose: () => void
}

export function Invite({ organization, onClose }: InviteProps) {
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const { may } = useOrganization()
  const invite = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/invitations', {
        path: { organization },
        body: { email: email.trim(), role },
      }),
  })
  if (invite.data !== undefined) {
    return (
      <SecretDialog
        secret={invite.data.link}
        name={w.linkName}
        title={w.linkTitle}
        lead={w.linkLead(invite.data.mailed)}
        onClose={() => {
          void client.invalidateQueries({ queryKey: [organization, 'invitations'] })
          onClose()
        }}
      />
    )
  }
  return (
    <FormDialog
      onClose={onClose}
      title={w.inviteDialog.title}
      action={w.invite}
      saving={invite}
      disabled={email.trim() === ''}
      onSubmit={() => invite.mutate()}
    >
      <NoWayIn organization={organization} />
      <TextField
        label={w.inviteDialog.email}
        hint={w.inviteDialog.emailHint}
        type="email"
        required
        maxLength={254}
        error={fieldError(invite.error, 'email')}
        value={email}
        onValue={setEmail}
      />
      <RoleChoice
        label={w.role}
        value={role}
        owners={may('owners.manage')}
        onValue={setRole}
        shown={words.roles}
      />
    </FormDialog>
  )
}

/** Warns that an invited person could not sign in, if neither a provider nor a company connection is available. */
function NoWayIn({ organization }: { readonly organization: string }) {
  const ways = useQuery({
    queryKey: [organization, 'invitations', 'ways-in'],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/invitations/ways-in',
        { path: { organization } },
        { signal },
      ),
  })
  if (ways.data === undefined || ways.data.providers.length > 0 || ways.data.company) {
    return undefined
  }
  return (
    <Notice tone="caution" title={w.noWayIn}>
      <p>{w.noWayInText}</p>
    </Notice>
  )
}
