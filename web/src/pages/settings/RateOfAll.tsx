import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Organization } from '../../api/organizations.ts'
import { settingsWords as w } from '../../../words/en/settings.ts'
import { TextField } from '../../parts/Field.tsx'
import { RateShares } from '../../parts/RateShares.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { fieldError } from '../../parts/States.tsx'
import { Card, Columns } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'

/** Edits the rate limit shared by all of the organization's calls. */
export function RateOfAll({ it }: { readonly it: Organization }) {
  const client = useQueryClient()
  const { rate_limit: rate } = it
  const [calls, setCalls] = useState(String(rate?.calls ?? ''))
  const [seconds, setSeconds] = useState(String(rate?.per_seconds ?? 1))
  const isSame =
    calls === String(rate?.calls ?? '') &&
    (calls === '' || seconds === String(rate?.per_seconds ?? 1))
  const save = useMutation({
    mutationFn: () => {
      // Keeps a burst that was set through the API, because no field shows it.
      const input = { ...rate, calls: Number(calls), per_seconds: Number(seconds) }
      return call(
        'PATCH /organizations/:organization',
        { path: { organization: it.slug }, body: { rate_limit: calls === '' ? null : input } },
        { version: it.version },
      )
    },
    onSuccess: () => {
      say(w.rateSaved)
      void client.invalidateQueries({ queryKey: [it.slug, 'organization'] })
    },
  })
  return (
    <Card title={w.rate} lead={w.rateLead}>
      <SaveForm layout="stack" saving={save} disabled={isSame} onSave={() => save.mutate()}>
        <Columns>
          <TextField
            label={w.rateCalls}
            error={fieldError(save.error, 'rate_limit.calls')}
            inputMode="numeric"
            pattern="[1-9][0-9]{0,6}"
            value={calls}
            onValue={setCalls}
          />
          <TextField
            label={w.rateSeconds}
            error={fieldError(save.error, 'rate_limit.per_seconds')}
            inputMode="numeric"
            pattern="[1-9][0-9]{0,4}"
            required={calls !== ''}
            value={seconds}
            onValue={setSeconds}
          />
        </Columns>
      </SaveForm>
      {rate ? <RateShares organization={it.slug} subjectId={it.id} /> : undefined}
    </Card>
  )
}
