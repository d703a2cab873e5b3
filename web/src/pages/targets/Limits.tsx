import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
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
import { useEdit } from './useEdit.ts'

const w = targetsWords.limits

/** The short window and the long one, for all keys together. */
export function Limits({
  organization,
  it,
  editable,
}: {
  readonly organization: string
  readonly it: Target
  readonly editable: boolean
}) {
  const [calls, setCalls] = useState(String(it.rate_limit?.calls ?? ''))
  const [seconds, setSeconds] = useState(String(it.rate_limit?.per_seconds ?? 1))
  const [scope, setScope] = useState<'all' | 'node'>(it.rate_scope)
  const [quota, setQuota] = useState(String(it.quota?.calls ?? ''))
  const [period, setPeriod] = useState<'day' | 'month'>(it.quota?.period ?? 'day')
  const used = useQuery({
    ...targetQuotaQuery(organization, it.slug),
    enabled: it.quota !== undefined,
  })
  const edit = useEdit(organization, it, w.saved)
  function onSave() {
    edit.mutate({
      rate_limit: calls === '' ? null : { calls: Number(calls), per_seconds: Number(seconds) },
      rate_scope: scope,
      quota: quota === '' ? null : { calls: Number(quota), period },
    })
  }
  return (
    <Card title={w.title} lead={w.lead}>
      <SaveForm saving={edit} editable={editable} onSave={onSave}>
        <div className={classes.three}>
          <TextField
            label={w.limit}
            hint={w.limitHint}
            error={fieldError(edit.error, 'rate_limit.calls')}
            inputMode="numeric"
            pattern="[0-9]*"
            disabled={!editable}
            value={calls}
            onValue={setCalls}
          />
          <TextField
            label={w.seconds}
            error={fieldError(edit.error, 'rate_limit.per_seconds')}
            inputMode="numeric"
            pattern="[0-9]+"
            disabled={!editable}
            value={seconds}
            onValue={setSeconds}
          />
          <SelectField
            label={w.scope}
            disabled={!editable}
            value={scope}
            options={(['all', 'node'] as const).map((value) => ({ value, label: w.scopes[value] }))}
            onValue={(value) => setScope(value === 'node' ? 'node' : 'all')}
          />
        </div>
        <div className={classes.three}>
          <TextField
            label={w.quota}
            hint={w.quotaHint}
            error={fieldError(edit.error, 'quota.calls')}
            inputMode="numeric"
            pattern="[0-9]*"
            disabled={!editable}
            value={quota}
            onValue={setQuota}
          />
          <SelectField
            label={w.period}
            disabled={!editable}
            value={period}
            options={(['day', 'month'] as const).map((value) => ({
              value,
              label: w.periods[value],
            }))}
            onValue={(value) => setPeriod(value === 'month' ? 'month' : 'day')}
          />
        </div>
      </SaveForm>
      {it.rate_limit === undefined || it.rate_scope === 'node' ? undefined : (
        <RateShares organization={organization} subjectId={it.id} />
      )}
      {used.data?.quota === undefined ? undefined : <QuotaGauge quota={used.data.quota} />}
    </Card>
  )
}
