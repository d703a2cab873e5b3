import { useQuery } from '@tanstack/react-query'
import { chosenOf, quotaPeriods, rateScopes, type QuotaPeriod } from '../../api/choices.ts'
import type { Target } from '../../api/shapes.ts'
import { targetQuotaQuery } from '../../api/targets.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { fieldError } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card } from '../../parts/Surface.tsx'
import { QuotaGauge } from '../../parts/QuotaGauge.tsx'
import classes from './targets.module.css'
import { RateShares } from '../../parts/RateShares.tsx'
import { useDraft } from '../../parts/useDraft.ts'
import { useEdit, type TargetFormProps } from './useEdit.ts'

const w = targetsWords.limits

interface Draft {
  readonly calls: string
  readonly seconds: string
  readonly scope: Target['rate_scope']
  readonly quota: string
  readonly period: QuotaPeriod
}

export function Limits({ organization, it, editable }: TargetFormProps) {
  const { base, draft, patch, forget } = useDraft(it, draftOf)
  const used = useQuery({
    ...targetQuotaQuery(organization, it.slug),
    enabled: it.quota !== undefined,
  })
  const edit = useEdit(organization, it, { base, saved: w.saved, onDone: forget })
  const part: PartProps = {
    draft,
    editable,
    error: edit.error,
    onPatch: patch,
  }
  return (
    <Card title={w.title} lead={w.lead}>
      <SaveForm
        saving={edit}
        editable={editable}
        onSave={() => edit.mutate(inputOf(draft, it.rate_limit))}
      >
        <RateFields {...part} />
        <QuotaFields {...part} />
      </SaveForm>
      {it.rate_limit === undefined || it.rate_scope === 'node' ? undefined : (
        <RateShares organization={organization} subjectId={it.id} />
      )}
      {used.data?.quota === undefined ? undefined : <QuotaGauge quota={used.data.quota} />}
    </Card>
  )
}

interface PartProps {
  readonly draft: Draft
  readonly editable: boolean
  readonly error: unknown
  readonly onPatch: (patch: Partial<Draft>) => void
}

function RateFields({ draft, editable, error, onPatch }: PartProps) {
  return (
    <div className={classes.three}>
      <TextField
        label={w.limit}
        hint={w.limitHint}
        error={fieldError(error, 'rate_limit.calls')}
        inputMode="numeric"
        pattern="[0-9]*"
        disabled={!editable}
        value={draft.calls}
        onValue={(calls) => onPatch({ calls })}
      />
      <TextField
        label={w.seconds}
        error={fieldError(error, 'rate_limit.per_seconds')}
        inputMode="numeric"
        pattern="[0-9]+"
        disabled={!editable}
        value={draft.seconds}
        onValue={(seconds) => onPatch({ seconds })}
      />
      <SelectField
        label={w.scope}
        disabled={!editable}
        value={draft.scope}
        options={rateScopes.map((value) => ({ value, label: w.scopes[value] }))}
        onValue={(value) => onPatch({ scope: chosenOf(rateScopes, value) })}
      />
    </div>
  )
}

function QuotaFields({ draft, editable, error, onPatch }: PartProps) {
  return (
    <div className={classes.three}>
      <TextField
        label={w.quota}
        hint={w.quotaHint}
        error={fieldError(error, 'quota.calls')}
        inputMode="numeric"
        pattern="[0-9]*"
        disabled={!editable}
        value={draft.quota}
        onValue={(quota) => onPatch({ quota })}
      />
      <SelectField
        label={w.period}
        disabled={!editable}
        value={draft.period}
        options={quotaPeriods.map((value) => ({ value, label: w.periods[value] }))}
        onValue={(value) => onPatch({ period: chosenOf(quotaPeriods, value) })}
      />
    </div>
  )
}

function draftOf({ rate_limit: rate, rate_scope: scope, quota }: Target): Draft {
  return {
    calls: String(rate?.calls ?? ''),
    seconds: String(rate?.per_seconds ?? 1),
    scope,
    quota: String(quota?.calls ?? ''),
    period: quota?.period ?? 'day',
  }
}

/** The rate keeps its previous burst, because no field shows the burst. */
function inputOf(
  { calls, seconds, scope, quota, period }: Draft,
  before: Target['rate_limit'] | undefined,
) {
  const rate = { ...before, calls: Number(calls), per_seconds: Number(seconds) }
  return {
    rate_limit: calls === '' ? null : rate,
    rate_scope: scope,
    quota: quota === '' ? null : { calls: Number(quota), period },
  }
}
