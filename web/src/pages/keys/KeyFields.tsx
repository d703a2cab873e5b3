import { chosenOf, quotaPeriods } from '../../api/choices.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Check, Select, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { Methods } from '../../parts/Methods.tsx'
import { fieldError } from '../../parts/States.tsx'
import type { KeyDraft } from './key-input.ts'

interface FieldsProps {
  readonly draft: KeyDraft
  readonly error: unknown
  /** The unit of the limit, in seconds. */
  readonly perSeconds: number
  readonly slugs: readonly string[]
  readonly onPatch: (patch: Partial<KeyDraft>) => void
}

/** A key's restrictions: grants, addresses, limit, quota. */
export function KeyFields({ draft, error, perSeconds, slugs, onPatch }: FieldsProps) {
  return (
    <>
      <SelectField
        label={w.form.grants}
        value={draft.some ? 'some' : 'all'}
        options={[
          { value: 'all', label: w.form.grantsAll },
          { value: 'some', label: w.form.grantsSome },
        ]}
        onValue={(value) => onPatch({ some: value === 'some' })}
      />
      {draft.some ? (
        <GrantChoices
          slugs={slugs}
          grants={draft.grants}
          onGrants={(grants) => onPatch({ grants })}
        />
      ) : undefined}
      <TextArea
        label={w.form.cidrs}
        hint={w.form.cidrsHint}
        error={fieldError(error, 'cidrs')}
        code
        rows={2}
        value={draft.cidrs}
        onValue={(cidrs) => onPatch({ cidrs })}
      />
      <LimitFields draft={draft} error={error} perSeconds={perSeconds} onPatch={onPatch} />
    </>
  )
}

function LimitFields({ draft, error, perSeconds, onPatch }: Omit<FieldsProps, 'slugs'>) {
  return (
    <>
      <TextField
        label={w.form.limit}
        hint={w.form.limitHint(perSeconds)}
        error={fieldError(error, 'rate_limit')}
        inputMode="numeric"
        pattern="[0-9]*"
        value={draft.limit}
        onValue={(limit) => onPatch({ limit })}
      />
      <div className="row">
        <TextField
          label={w.form.quota}
          hint={w.form.quotaHint}
          error={fieldError(error, 'quota')}
          inputMode="numeric"
          pattern="[0-9]*"
          value={draft.quota}
          onValue={(quota) => onPatch({ quota })}
        />
        <Select
          auto
          aria-label={w.form.quota}
          value={draft.period}
          options={quotaPeriods.map((value) => ({
            value,
            label: w.form.per[value],
          }))}
          onValue={(period) => onPatch({ period: chosenOf(quotaPeriods, period) })}
        />
      </div>
    </>
  )
}

function GrantChoices({
  slugs,
  grants,
  onGrants,
}: {
  readonly slugs: readonly string[]
  readonly grants: KeyDraft['grants']
  readonly onGrants: (grants: KeyDraft['grants']) => void
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
