import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Input } from '../../api/call.ts'
import type { Grant, Key } from '../../api/shapes.ts'
import { targetsQuery } from '../../api/targets.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { Check, Select, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { Methods, type Method } from '../../parts/Methods.tsx'
import { fieldError } from '../../parts/States.tsx'
import { KeySecret } from './KeySecret.tsx'

const dayMs = 86_400_000
type Body = Input<'POST /organizations/:organization/keys'>['body']

interface Draft {
  readonly name: string
  readonly days: string
  readonly scheme: Key['scheme']
  readonly some: boolean
  readonly grants: Readonly<Record<string, readonly Method[]>>
  readonly cidrs: string
  readonly limit: string
  readonly quota: string
  readonly period: 'day' | 'month'
  readonly personal: boolean
}

const start: Draft = {
  name: '',
  days: '90',
  scheme: 'x-api-key',
  some: false,
  grants: {},
  cidrs: '',
  limit: '',
  quota: '',
  period: 'day',
  personal: false,
}

/** Asks two things, folds the rest, then shows the key once. `target` fills the curl line. */
export function IssueKey({
  organization,
  onClose,
}: {
  readonly organization: string
  readonly onClose: () => void
}) {
  const [draft, setDraft] = useState(start)
  const targets = useQuery(targetsQuery(organization))
  const issue = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys', {
        path: { organization },
        body: bodyOf(draft),
      }),
  })
  const put = (patch: Partial<Draft>) => setDraft((before) => ({ ...before, ...patch }))

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
      open
      onClose={onClose}
      title={w.form.title}
      action={w.issue}
      busy={issue.isPending}
      error={issue.error}
      disabled={draft.name.trim() === ''}
      onSubmit={() => issue.mutate()}
    >
      <TextField
        label={w.form.name}
        hint={w.form.nameHint}
        error={fieldError(issue.error, 'name')}
        value={draft.name}
        maxLength={100}
        required
        onValue={(name) => put({ name })}
      />
      <SelectField
        label={w.form.ends}
        value={draft.days}
        options={Object.entries(w.form.endChoices).map(([value, label]) => ({ value, label }))}
        onValue={(days) => put({ days })}
      />
      <Folded title={w.form.more}>
        <SelectField
          label={w.form.scheme}
          hint={w.form.schemeHint}
          value={draft.scheme}
          options={(['x-api-key', 'bearer'] as const).map((value) => ({
            value,
            label: w.scheme[value],
          }))}
          onValue={(scheme) => put({ scheme: scheme === 'bearer' ? 'bearer' : 'x-api-key' })}
        />
        <SelectField
          label={w.form.grants}
          value={draft.some ? 'some' : 'all'}
          options={[
            { value: 'all', label: w.form.grantsAll },
            { value: 'some', label: w.form.grantsSome },
          ]}
          onValue={(value) => put({ some: value === 'some' })}
        />
        {draft.some ? (
          <GrantChoices
            slugs={(targets.data?.items ?? []).map((target) => target.slug)}
            grants={draft.grants}
            onGrants={(grants) => put({ grants })}
          />
        ) : undefined}
        <TextArea
          label={w.form.cidrs}
          hint={w.form.cidrsHint}
          error={fieldError(issue.error, 'cidrs')}
          code
          rows={2}
          value={draft.cidrs}
          onValue={(cidrs) => put({ cidrs })}
        />
        <TextField
          label={w.form.limit}
          hint={w.form.limitHint}
          error={fieldError(issue.error, 'rateLimit')}
          inputMode="numeric"
          pattern="[0-9]*"
          value={draft.limit}
          onValue={(limit) => put({ limit })}
        />
        <div className="row">
          <TextField
            label={w.form.quota}
            hint={w.form.quotaHint}
            error={fieldError(issue.error, 'quota')}
            inputMode="numeric"
            pattern="[0-9]*"
            value={draft.quota}
            onValue={(quota) => put({ quota })}
          />
          <Select
            auto
            aria-label={w.form.quota}
            value={draft.period}
            options={(['day', 'month'] as const).map((value) => ({
              value,
              label: w.form.per[value],
            }))}
            onValue={(period) => put({ period: period === 'month' ? 'month' : 'day' })}
          />
        </div>
        <Check
          label={w.form.personal}
          hint={w.form.personalHint}
          checked={draft.personal}
          onValue={(personal) => put({ personal })}
        />
      </Folded>
    </FormDialog>
  )
}

function GrantChoices({
  slugs,
  grants,
  onGrants,
}: {
  readonly slugs: readonly string[]
  readonly grants: Draft['grants']
  readonly onGrants: (grants: Draft['grants']) => void
}) {
  return (
    <div className="stack-tight">
      {slugs.map((slug) => {
        const methods = grants[slug]
        return (
          <div key={slug} className="stack-tight">
            <Check
              label={<code>{slug}</code>}
              checked={methods !== undefined}
              onValue={(on) => {
                const { [slug]: _, ...others } = grants
                onGrants(on ? { ...grants, [slug]: [] } : others)
              }}
            />
            {methods === undefined ? undefined : (
              <Methods
                label={`${w.form.methods}: ${slug}`}
                value={methods}
                onValue={(chosen) => onGrants({ ...grants, [slug]: chosen })}
              />
            )}
          </div>
        )
      })}
    </div>
  )
}

function bodyOf(draft: Draft): Body {
  const cidrs = draft.cidrs.split(/[\s,]+/).filter(Boolean)
  return {
    name: draft.name.trim(),
    scheme: draft.scheme,
    ...(draft.days === ''
      ? {}
      : { expiresAt: new Date(Date.now() + Number(draft.days) * dayMs).toISOString() }),
    ...(draft.some ? { grants: Object.entries(draft.grants).map(grantOf) } : {}),
    ...(cidrs.length === 0 ? {} : { cidrs }),
    ...(draft.limit === '' ? {} : { rateLimit: { calls: Number(draft.limit), perSeconds: 1 } }),
    ...(draft.quota === '' ? {} : { quota: { calls: Number(draft.quota), period: draft.period } }),
    ...(draft.personal ? { personal: true } : {}),
  }
}

function grantOf([target, methods]: readonly [string, readonly Method[]]): Grant {
  return methods.length === 0 ? { target } : { target, methods: [...methods] }
}
