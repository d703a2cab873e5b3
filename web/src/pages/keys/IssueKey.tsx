import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Input } from '../../api/call.ts'
import { chosenOf, schemes } from '../../api/choices.ts'
import { organizationQuery, type Organization } from '../../api/organizations.ts'
import type { Key } from '../../api/shapes.ts'
import { targetsQuery } from '../../api/targets.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { Check, SelectField, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { fieldError } from '../../parts/States.tsx'
import { draftOf, inputOf, KeyFields, type KeyDraft } from './key-fields.tsx'
import { KeySecret } from './KeySecret.tsx'

type Body = Input<'POST /organizations/:organization/keys'>['body']

interface Draft extends KeyDraft {
  readonly scheme: Key['scheme']
  readonly personal: boolean
}

const suggestedDays = 90

/** The organization's defaults as the form's initial values. */
function startOf(defaults: Organization['key_defaults'] | undefined): Draft {
  return {
    ...draftOf(),
    days: String(defaults?.expires_after_days ?? suggestedDays),
    cidrs: (defaults?.cidrs ?? []).join('\n'),
    scheme: defaults?.scheme ?? 'x-api-key',
    personal: false,
  }
}

export function IssueKey({
  organization,
  onClose,
}: {
  readonly organization: string
  readonly onClose: () => void
}) {
  const known = useQuery(organizationQuery(organization))
  const defaults = known.data?.key_defaults
  const [typed, setTyped] = useState<Partial<Draft>>({})
  const draft = { ...startOf(defaults), ...typed }
  const issue = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys', {
        path: { organization },
        body: bodyOf(draft),
      }),
  })

  if (issue.data !== undefined) {
    return (
      <KeySecret
        organization={organization}
        issued={issue.data.key}
        secret={issue.data.secret}
        title={w.issuedTitle}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      onClose={onClose}
      title={w.form.title}
      action={w.issue}
      saving={{ isPending: issue.isPending, error: issue.error ?? known.error }}
      // The request contains every field that has a default, so sending it before the organization's defaults are
      // loaded would override them.
      disabled={draft.name.trim() === '' || defaults === undefined}
      onSubmit={() => issue.mutate()}
    >
      <Fields
        organization={organization}
        defaults={defaults}
        draft={draft}
        error={issue.error}
        onPatch={(patch) => setTyped((before) => ({ ...before, ...patch }))}
      />
    </FormDialog>
  )
}

function Fields({
  organization,
  defaults,
  draft,
  error,
  onPatch,
}: {
  readonly organization: string
  readonly defaults: Organization['key_defaults'] | undefined
  readonly draft: Draft
  readonly error: unknown
  readonly onPatch: (patch: Partial<Draft>) => void
}) {
  const targets = useQuery(targetsQuery(organization))
  return (
    <>
      <TextField
        label={w.form.name}
        hint={w.form.nameHint}
        error={fieldError(error, 'name')}
        value={draft.name}
        maxLength={100}
        required
        onValue={(name) => onPatch({ name })}
      />
      <SelectField
        label={w.form.ends}
        value={draft.days}
        options={endChoices(defaults?.expires_after_days)}
        onValue={(days) => onPatch({ days })}
      />
      <Folded title={w.form.more}>
        <SelectField
          label={w.form.scheme}
          hint={w.form.schemeHint}
          value={draft.scheme}
          options={schemes.map((value) => ({
            value,
            label: w.scheme[value],
          }))}
          onValue={(scheme) => onPatch({ scheme: chosenOf(schemes, scheme) })}
        />
        <KeyFields
          draft={draft}
          error={error}
          before={undefined}
          slugs={(targets.data?.items ?? []).map((target) => target.slug)}
          onPatch={onPatch}
        />
        <Check
          label={w.form.personal}
          hint={w.form.personalHint}
          checked={draft.personal}
          onValue={(personal) => onPatch({ personal })}
        />
      </Folded>
    </>
  )
}

/** The usual expiries, and the organization's default if it is a different one. */
function endChoices(days: number | undefined) {
  const usual = Object.entries(w.form.endChoices).map(([value, label]) => ({ value, label }))
  const own = String(days ?? suggestedDays)
  if (usual.some(({ value }) => value === own)) return usual
  return [{ value: own, label: w.form.days(Number(own)) }, ...usual]
}

/**
 * The expiry, addresses and scheme are always included, because the server would replace an omitted one with the
 * organization's default.
 */
function bodyOf(draft: Draft): Body {
  const { expires_at: expiresAt = null, cidrs = null, ...input } = inputOf(draft)
  return {
    ...input,
    expires_at: expiresAt,
    cidrs,
    scheme: draft.scheme,
    ...(draft.personal ? { personal: true } : {}),
  }
}
