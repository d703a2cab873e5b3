import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { chosenOf, schemes } from '../../api/choices.ts'
import type { Organization } from '../../api/organizations.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { settingsWords as w } from '../../../words/en/settings.ts'
import { SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { fieldError } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { useDraft, versionFor } from '../../parts/useDraft.ts'

export function KeyDefaults({ it }: { readonly it: Organization }) {
  const client = useQueryClient()
  const { key_defaults: keyDefaults } = it
  const { base, draft, patch, forget } = useDraft(it, draftOf)
  const { scheme, days, cidrs } = draft
  const input = inputOf(draft)
  const isSame =
    input.scheme === keyDefaults.scheme &&
    input.expires_after_days === (keyDefaults.expires_after_days ?? null) &&
    (input.cidrs ?? []).join() === (keyDefaults.cidrs ?? []).join()
  const save = useMutation({
    mutationFn: async () => {
      await call(
        'PATCH /organizations/:organization',
        { path: { organization: it.slug }, body: { key_defaults: input } },
        { version: versionFor({ base, it }, (one) => one.key_defaults) },
      )
      say(w.keyDefaultsSaved)
      await client.invalidateQueries({ queryKey: [it.slug, 'organization'] })
      // Called here and not in `onSuccess`, which would forget the newest draft instead of the one that was saved.
      forget()
    },
  })
  return (
    <Card title={w.keyDefaults} lead={w.keyDefaultsLead}>
      <SaveForm layout="stack" saving={save} disabled={isSame} onSave={() => save.mutate()}>
        <SelectField
          label={w.scheme}
          value={scheme}
          options={schemes.map((value) => ({
            value,
            label: keysWords.scheme[value],
          }))}
          onValue={(value) => patch({ scheme: chosenOf(schemes, value) })}
        />
        <TextField
          label={w.ends}
          hint={w.endsHint}
          error={fieldError(save.error, 'key_defaults.expires_after_days')}
          inputMode="numeric"
          pattern="[1-9][0-9]{0,3}"
          value={days}
          onValue={(next) => patch({ days: next })}
        />
        <TextArea
          label={w.addresses}
          hint={w.addressesHint}
          error={fieldError(save.error, 'key_defaults.cidrs')}
          code
          rows={2}
          value={cidrs}
          onValue={(next) => patch({ cidrs: next })}
        />
      </SaveForm>
    </Card>
  )
}

function draftOf({ key_defaults: { scheme, expires_after_days: days, cidrs } }: Organization) {
  return { scheme, days: String(days ?? ''), cidrs: (cidrs ?? []).join('\n') }
}

function inputOf(draft: ReturnType<typeof draftOf>) {
  const ranges = draft.cidrs.split(/[\s,]+/).filter(Boolean)
  return {
    scheme: draft.scheme,
    expires_after_days: draft.days === '' ? null : Number(draft.days),
    cidrs: ranges.length === 0 ? null : ranges,
  }
}
