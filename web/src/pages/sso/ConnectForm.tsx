import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { guides } from '../../../words/en/sso-guides.ts'
import { connect, type ConnectionKind } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { Check, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { LeaveGuard } from '../../parts/LeaveGuard.tsx'
import { useEdited } from '../../parts/leaving.ts'
import { fieldError, ProblemNotice } from '../../parts/States.tsx'
import { say } from '../../parts/Toasts.tsx'
import { Discovery } from './Discovery.tsx'

const w = ssoWords.connection

interface Draft {
  readonly issuer: string
  readonly clientId: string
  readonly secret: string
  readonly keyPair: boolean
  readonly name: string
}

const nothing: Draft = { issuer: '', clientId: '', secret: '', keyPair: false, name: '' }

interface ConnectProps {
  readonly kind: ConnectionKind
  /** The reservation of the URLs that the person was shown; the new connection gets these URLs. */
  readonly reservation: string | undefined
  readonly onDone: () => void
}

export function ConnectForm({ kind, reservation, onDone }: ConnectProps) {
  const { isEdited, onInput, forget } = useEdited()
  const [draft, setDraft] = useState<Draft>(() => ({
    ...nothing,
    issuer: kind === 'google' ? guides.google.issuerExample : '',
  }))
  const connecting = useConnecting({
    kind,
    reservation,
    onDone: () => {
      forget()
      onDone()
    },
  })
  const missing = missingIn(draft)
  const begun = draft.issuer !== '' || draft.clientId !== '' || draft.secret !== ''
  function submit(event: FormEvent) {
    event.preventDefault()
    if (missing.length === 0) connecting.mutate(draft)
  }
  return (
    <form className="form" onSubmit={submit} onInput={onInput}>
      <LeaveGuard isDirty={isEdited} />
      <Fields kind={kind} draft={draft} error={connecting.error} onDraft={setDraft} />
      {connecting.error === null ? undefined : <ProblemNotice error={connecting.error} />}
      <div>
        <Button
          type="submit"
          look="primary"
          busy={connecting.isPending}
          disabled={missing.length > 0}
        >
          {w.connect}
        </Button>
      </div>
      {begun && missing.length > 0 ? <p className="muted">{w.missing(missing)}</p> : undefined}
    </form>
  )
}

function useConnecting({ kind, reservation, onDone }: ConnectProps) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ issuer, clientId, secret, keyPair, name }: Draft) =>
      connect(slug, {
        kind,
        reservation,
        issuer: issuer.trim(),
        client_id: clientId.trim(),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(keyPair ? { private_key: true } : { client_secret: secret }),
      }),
    onSuccess: () => {
      say(w.connected, { text: w.connectedText })
      client.removeQueries({ queryKey: [slug, 'sso', 'reservation'] })
      void client.invalidateQueries({ queryKey: [slug, 'sso'] })
      onDone()
    },
  })
}

interface FieldsProps {
  readonly draft: Draft
  readonly error: unknown
  readonly onDraft: (draft: Draft) => void
}

function Fields({ kind, draft, error, onDraft }: FieldsProps & { readonly kind: ConnectionKind }) {
  return (
    <>
      <TextField
        label={w.issuer}
        hint={w.issuerHint}
        error={fieldError(error, 'issuer')}
        code
        inputMode="url"
        placeholder={guides[kind].issuerExample}
        value={draft.issuer}
        onValue={(issuer) => onDraft({ ...draft, issuer })}
      />
      <Discovery issuer={draft.issuer} />
      <TextField
        label={w.clientId}
        error={fieldError(error, 'client_id')}
        code
        value={draft.clientId}
        onValue={(clientId) => onDraft({ ...draft, clientId })}
      />
      {draft.keyPair ? undefined : (
        <TextField
          label={w.clientSecret}
          hint={w.clientSecretHint}
          error={fieldError(error, 'client_secret')}
          code
          type="password"
          autoComplete="off"
          value={draft.secret}
          onValue={(secret) => onDraft({ ...draft, secret })}
        />
      )}
      <More draft={draft} error={error} onDraft={onDraft} />
    </>
  )
}

function More({ draft, error, onDraft }: FieldsProps) {
  return (
    <Folded title={w.claims}>
      <Check
        label={w.keyPair}
        hint={w.keyPairHint}
        checked={draft.keyPair}
        onValue={(keyPair) => onDraft({ ...draft, keyPair })}
      />
      <TextField
        label={w.name}
        hint={w.nameHint}
        error={fieldError(error, 'name')}
        maxLength={100}
        value={draft.name}
        onValue={(name) => onDraft({ ...draft, name })}
      />
    </Folded>
  )
}

function missingIn({ issuer, clientId, secret, keyPair }: Draft): string[] {
  return [
    ...(issuer.trim() === '' ? [w.issuer] : []),
    ...(clientId.trim() === '' ? [w.clientId] : []),
    ...(keyPair || secret.trim() !== '' ? [] : [w.clientSecret]),
  ]
}
