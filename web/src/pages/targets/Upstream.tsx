import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button } from '../../parts/Button.tsx'
import { Check, SwitchRow, TextField } from '../../parts/Field.tsx'
import { duration } from '../../parts/numbers.ts'
import { fieldError, ProblemNotice } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card, Columns, Notice } from '../../parts/Surface.tsx'
import { useDraft } from '../../parts/useDraft.ts'
import classes from './targets.module.css'
import { useEdit, type TargetFormProps } from './useEdit.ts'

const w = targetsWords.upstream
const bytesPerMiB = 1024 * 1024

export function Upstream(part: TargetFormProps) {
  return (
    <Columns>
      <Place {...part} />
      <Passing {...part} />
    </Columns>
  )
}

function Place({ organization, it, editable }: TargetFormProps) {
  const { base, draft, patch, forget } = useDraft(it, placeOf)
  const { upstream, name, credential } = draft
  const edit = useEdit(organization, it, { base, saved: w.saved, onDone: forget })
  function onSave() {
    const { header, value, drop } = credential
    const change = drop
      ? { credential: null }
      : value === ''
        ? {}
        : { credential: { header, value } }
    edit.mutate({ name, upstream, ...change })
  }
  return (
    <Card title={w.title} lead={w.lead} actions={<Reach organization={organization} it={it} />}>
      <SaveForm saving={edit} editable={editable} onSave={onSave}>
        <TextField
          label={w.address}
          error={fieldError(edit.error, 'upstream')}
          code
          inputMode="url"
          disabled={!editable}
          value={upstream}
          onValue={(next) => patch({ upstream: next })}
        />
        <TextField
          label={w.name}
          error={fieldError(edit.error, 'name')}
          disabled={!editable}
          value={name}
          onValue={(next) => patch({ name: next })}
        />
        <CredentialFields
          stored={it.credential_header}
          credential={credential}
          editable={editable}
          error={edit.error}
          onCredential={(next) => patch({ credential: next })}
        />
      </SaveForm>
    </Card>
  )
}

/** The target's credential while it is typed; an empty value keeps the stored one. */
interface Credential {
  readonly header: string
  readonly value: string
  readonly drop: boolean
}

function placeOf(it: Target) {
  const credential: Credential = { header: it.credential_header ?? '', value: '', drop: false }
  return { upstream: it.upstream, name: it.name, credential }
}

function CredentialFields({
  stored,
  credential,
  editable,
  error,
  onCredential,
}: {
  readonly stored: string | undefined
  readonly credential: Credential
  readonly editable: boolean
  readonly error: unknown
  readonly onCredential: (credential: Credential) => void
}) {
  return (
    <>
      {stored === undefined ? undefined : <Notice tone="pass">{w.stored(stored)}</Notice>}
      <TextField
        label={w.header}
        hint={w.headerHint}
        error={fieldError(error, 'credential.header')}
        code
        disabled={!editable || credential.drop}
        value={credential.header}
        onValue={(header) => onCredential({ ...credential, header })}
      />
      <TextField
        label={w.value}
        hint={w.valueHint}
        error={fieldError(error, 'credential.value')}
        code
        type="password"
        autoComplete="new-password"
        disabled={!editable || credential.drop}
        value={credential.value}
        onValue={(value) => onCredential({ ...credential, value })}
      />
      {stored === undefined ? undefined : (
        <Check
          label={w.drop}
          checked={credential.drop}
          disabled={!editable}
          onValue={(drop) => onCredential({ ...credential, drop })}
        />
      )}
    </>
  )
}

function Reach({ organization, it }: { readonly organization: string; readonly it: Target }) {
  const reach = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/targets/:target/reach', {
        path: { organization, target: it.slug },
      }),
  })
  return (
    <div className="stack-tight">
      <Button small busy={reach.isPending} onClick={() => reach.mutate()}>
        {w.test}
      </Button>
      {reach.data === undefined ? undefined : (
        <p role="status">{w.reached(reach.data.status, duration(reach.data.took_ms))}</p>
      )}
      {reach.isError ? <ProblemNotice error={reach.error} /> : undefined}
    </div>
  )
}

const switches = [
  ['assertion', w.assertion, w.assertionHint],
  ['verbatim_paths', w.verbatim, w.verbatimHint],
  ['allow_browser', w.browser, w.browserHint],
] as const
const timeouts = [
  ['connect_ms', w.connect],
  ['first_byte_ms', w.firstByte],
  ['idle_ms', w.idle],
] as const

function Passing({ organization, it, editable }: TargetFormProps) {
  const { base, draft, patch, forget } = useDraft(it, passingOf)
  const { times, mib } = draft
  const edit = useEdit(organization, it, { base, saved: w.saved, onDone: forget })
  const turn = useEdit(organization, it, { base: it, saved: w.saved, onDone: () => undefined })
  function onSave() {
    edit.mutate({ timeouts: times, body_limit_bytes: Math.round(Number(mib) * bytesPerMiB) })
  }
  return (
    <Card title={w.timeouts}>
      <div className="stack">
        {switches.map(([name, label, hint]) => (
          <SwitchRow
            key={name}
            label={label}
            hint={hint}
            checked={it[name]}
            disabled={!editable || turn.isPending}
            onValue={(on) => turn.mutate({ [name]: on })}
          />
        ))}
        {turn.isError ? <ProblemNotice error={turn.error} /> : undefined}
        <SaveForm saving={edit} editable={editable} look="plain" onSave={onSave}>
          <div className={classes.three}>
            {timeouts.map(([name, label]) => (
              <TextField
                key={name}
                label={label}
                inputMode="numeric"
                pattern="[0-9]+"
                disabled={!editable}
                value={String(times[name])}
                onValue={(text) => patch({ times: { ...times, [name]: Number(text) } })}
              />
            ))}
            <TextField
              label={w.bodyLimit}
              inputMode="decimal"
              disabled={!editable}
              value={mib}
              onValue={(next) => patch({ mib: next })}
            />
          </div>
        </SaveForm>
      </div>
    </Card>
  )
}

function passingOf(it: Target) {
  return { times: it.timeouts, mib: String(it.body_limit_bytes / bytesPerMiB) }
}
