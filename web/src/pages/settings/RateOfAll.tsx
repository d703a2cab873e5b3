import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { Organization } from '../../api/organizations.ts'
import { settingsWords as w } from '../../../words/en/settings.ts'
import { TextField } from '../../parts/Field.tsx'
import { RateShares } from '../../parts/RateShares.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { fieldError } from '../../parts/States.tsx'
import { Card, Columns } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { useDraft, versionFor } from '../../parts/useDraft.ts'

/** Edits the rate limit shared by all of the organization's calls. */
export function RateOfAll({ it }: { readonly it: Organization }) {
  const client = useQueryClient()
  const { rate_limit: rate } = it
  const { base, draft, patch, forget } = useDraft(it, draftOf)
  const { calls, seconds } = draft
  const isSame =
    calls === String(rate?.calls ?? '') &&
    (calls === '' || seconds === String(rate?.per_seconds ?? 1))
  const save = useMutation({
    mutationFn: async () => {
      // Keeps a burst that was set through the API, because the form does not show it.
      const input = { ...rate, calls: Number(calls), per_seconds: Number(seconds) }
      await call(
        'PATCH /organizations/:organization',
        { path: { organization: it.slug }, body: { rate_limit: calls === '' ? null : input } },
        { version: versionFor({ base, it }, (one) => one.rate_limit) },
      )
      say(w.rateSaved)
      await client.invalidateQueries({ queryKey: [it.slug, 'organization'] })
      forget()
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
            onValue={(next) => patch({ calls: next })}
          />
          <TextField
            label={w.rateSeconds}
            error={fieldError(save.error, 'rate_limit.per_seconds')}
            inputMode="numeric"
            pattern="[1-9][0-9]{0,4}"
            required={calls !== ''}
            value={seconds}
            onValue={(next) => patch({ seconds: next })}
          />
        </Columns>
      </SaveForm>
      {rate ? <RateShares organization={it.slug} subjectId={it.id} /> : undefined}
    </Card>
  )
}

function draftOf({ rate_limit: rate }: Organization) {
  return { calls: String(rate?.calls ?? ''), seconds: String(rate?.per_seconds ?? 1) }
}
