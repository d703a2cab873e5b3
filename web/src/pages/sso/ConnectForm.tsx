import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { guides } from '../../../words/en/sso-guides.ts'
import { connect, type ConnectionKind } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { Check, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { fieldError, ProblemNotice } from '../../parts/States.tsx'
import { say } from '../../parts/Toasts.tsx'
import { Discovery } from './Discovery.tsx'

const w = ssoWords.connection

/** The three fields that we need of a provider; what the issuer says of itself is shown while typing. */
export function ConnectForm({
  kind,
  reservation,
  onDone,
}: {
  readonly kind: ConnectionKind
  /** What makes the connection keep the addresses that were shown. */
  readonly reservation: string | undefined
  readonly onDone: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const [issuer, setIssuer] = useState<string>(kind === 'google' ? guides.google.issuerExample : '')
  const [clientId, setClientId] = useState('')
  const [secret, setSecret] = useState('')
  const [keyPair, setKeyPair] = useState(false)
  const [name, setName] = useState('')
  const connecting = useMutation({
    mutationFn: () =>
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
  const missing = [
    ...(issuer.trim() === '' ? [w.issuer] : []),
    ...(clientId.trim() === '' ? [w.clientId] : []),
    ...(keyPair || secret.trim() !== '' ? [] : [w.clientSecret]),
  ]
  const ready = missing.length === 0
  const begun = issuer !== '' || clientId !== '' || secret !== ''
  function submit(event: FormEvent) {
    event.preventDefault()
    if (ready) connecting.mutate()
  }
  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label={w.issuer}
        hint={w.issuerHint}
        error={fieldError(connecting.error, 'issuer')}
        code
        inputMode="url"
        placeholder={guides[kind].issuerExample}
        value={issuer}
        onValue={setIssuer}
      />
      <Discovery issuer={issuer} />
      <TextField
        label={w.clientId}
        error={fieldError(connecting.error, 'client_id')}
        code
        value={clientId}
        onValue={setClientId}
      />
      {keyPair ? undefined : (
        <TextField
          label={w.clientSecret}
          hint={w.clientSecretHint}
          error={fieldError(connecting.error, 'client_secret')}
          code
          type="password"
          autoComplete="off"
          value={secret}
          onValue={setSecret}
        />
      )}
      <Folded title={w.claims}>
        <Check label={w.keyPair} hint={w.keyPairHint} checked={keyPair} onValue={setKeyPair} />
        <TextField
          label={w.name}
          hint={w.nameHint}
          error={fieldError(connecting.error, 'name')}
          maxLength={100}
          value={name}
          onValue={setName}
        />
      </Folded>
      {connecting.error === null ? undefined : <ProblemNotice error={connecting.error} />}
      <div>
        <Button type="submit" look="primary" busy={connecting.isPending} disabled={!ready}>
          {w.connect}
        </Button>
      </div>
      {begun && !ready ? <p className="muted">{w.missing(missing)}</p> : undefined}
    </form>
  )
}
