import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type Dispatch, type SetStateAction } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { changeConnection, type Connection, type ConnectionChange } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { Check, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { fieldError } from '../../parts/States.tsx'
import { Notice } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { Dependents } from './Dependents.tsx'

const w = ssoWords.connection
const secondsPerHour = 3600

/** An empty secret keeps the stored one; if the issuer or the client id changes, the secret has to be typed again. */
export function EditConnection({
  connection: newest,
  onClose,
}: {
  readonly connection: Connection
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  // The form keeps the version that it was opened with, so that saving is refused if someone else has changed the
  // connection.
  const [connection] = useState(newest)
  const [draft, setDraft] = useState(() => draftOf(connection))
  const saving = useMutation({
    mutationFn: () => changeConnection(slug, connection, changeOf(connection, draft)),
    onSuccess: () => {
      say(w.saved)
      void client.invalidateQueries({ queryKey: [slug, 'sso'] })
      onClose()
    },
  })
  const part: PartProps = { connection, draft, setDraft, error: saving.error }
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={w.editTitle(connection.name)}
      action={w.save}
      saving={saving}
      disabled={hoursWrong(part) !== undefined || draft.issuer.trim() === ''}
      onSubmit={() => saving.mutate()}
    >
      <Provider {...part} />
      <Check
        label={w.admits}
        hint={w.admitsHint}
        checked={draft.admits}
        onValue={(admits) => setDraft((before) => ({ ...before, admits }))}
      />
      <Check
        label={w.endsProvider}
        hint={w.endsProviderHint}
        checked={draft.endsProvider}
        onValue={(endsProvider) => setDraft((before) => ({ ...before, endsProvider }))}
      />
      <Claims {...part} />
    </FormDialog>
  )
}

interface PartProps {
  readonly connection: Connection
  readonly draft: Draft
  readonly setDraft: Dispatch<SetStateAction<Draft>>
  readonly error: unknown
}

function textsOf({ draft, setDraft, error }: PartProps) {
  return (name: TextName) => ({
    value: draft[name],
    onValue: (value: string) => setDraft((before) => ({ ...before, [name]: value })),
    error: fieldError(error, name),
  })
}

function Provider(part: PartProps) {
  const { connection, draft } = part
  const text = textsOf(part)
  return (
    <>
      <TextField label={w.name} hint={w.nameHint} maxLength={100} {...text('name')} />
      <TextField label={w.issuer} code {...text('issuer')} />
      {draft.issuer.trim() === connection.issuer ? undefined : (
        <Notice tone="caution" title={w.movedTitle}>
          <Dependents connection={connection.id} />
        </Notice>
      )}
      <TextField label={w.clientId} code {...text('client_id')} />
      {connection.credential === 'secret' ? (
        <TextField
          label={w.clientSecret}
          hint={w.secretKept}
          code
          type="password"
          {...text('client_secret')}
        />
      ) : undefined}
    </>
  )
}

function Claims(part: PartProps) {
  const text = textsOf(part)
  return (
    <Folded title={w.claims}>
      <TextField label={w.requiredGroup} hint={w.requiredGroupHint} {...text('required_group')} />
      <TextField label={w.scopesName} hint={w.scopesHint} code {...text('scopes')} />
      <TextField label={w.claimEmail} code {...text('email')} />
      <TextField label={w.claimVerified} code {...text('email_verified')} />
      <TextField label={w.claimName} code {...text('claimName')} />
      <TextField label={w.claimGroups} code {...text('groups')} />
      <TextField
        label={w.sessionMaximum}
        hint={w.sessionHint}
        inputMode="numeric"
        {...text('hours')}
        error={hoursWrong(part) ?? fieldError(part.error, 'session_maximum_seconds')}
      />
    </Folded>
  )
}

function hoursWrong({ connection, draft: { hours } }: PartProps): string | undefined {
  if (hours === hoursOf(connection)) return undefined
  return hours !== '' && !/^([1-9]|1\d|2[0-4])$/.test(hours.trim()) ? w.sessionWrong : undefined
}

/** The maximum session length in hours, with up to two decimals, because the API counts in seconds. */
function hoursOf({ session_maximum_seconds: seconds }: Connection): string {
  return seconds === undefined ? '' : String(Number((seconds / secondsPerHour).toFixed(2)))
}

function draftOf(connection: Connection) {
  const { claims } = connection
  return {
    name: connection.name,
    issuer: connection.issuer,
    client_id: connection.client_id,
    client_secret: '',
    admits: connection.admits_new_people,
    endsProvider: connection.ends_provider_session,
    required_group: connection.required_group ?? '',
    scopes: connection.scopes.join(' '),
    email: claims.email,
    email_verified: claims.email_verified,
    claimName: claims.name,
    groups: claims.groups,
    hours: hoursOf(connection),
  }
}
type Draft = ReturnType<typeof draftOf>
type TextName = Exclude<keyof Draft, 'admits' | 'endsProvider'>

function changeOf(connection: Connection, draft: Draft): ConnectionChange {
  const moved =
    draft.issuer.trim() !== connection.issuer || draft.client_id.trim() !== connection.client_id
  return {
    name: draft.name.trim(),
    issuer: draft.issuer.trim(),
    client_id: draft.client_id.trim(),
    ...(draft.client_secret === '' ? {} : { client_secret: draft.client_secret }),
    ...(moved && connection.credential === 'key' ? { private_key: true } : {}),
    admits_new_people: draft.admits,
    ends_provider_session: draft.endsProvider,
    required_group: draft.required_group.trim() === '' ? null : draft.required_group.trim(),
    scopes: draft.scopes.split(/\s+/).filter((scope) => scope !== ''),
    claims: {
      email: draft.email.trim(),
      email_verified: draft.email_verified.trim(),
      name: draft.claimName.trim(),
      groups: draft.groups.trim(),
    },
    // The session length is omitted unless it was edited, because the hours in the form may be rounded.
    ...(draft.hours === hoursOf(connection)
      ? {}
      : {
          session_maximum_seconds: draft.hours === '' ? null : Number(draft.hours) * secondsPerHour,
        }),
  }
}
