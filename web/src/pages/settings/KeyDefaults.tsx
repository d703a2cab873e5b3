import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/call.ts'
import type { Organization } from '../../api/organizations.ts'
import { words } from '../../../words/en.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { settingsWords as w } from '../../../words/en/settings.ts'
import { Button } from '../../parts/Button.tsx'
import { SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { fieldError, ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'

/** What new keys are like where nobody says otherwise. */
export function KeyDefaults({ it }: { readonly it: Organization }) {
  const client = useQueryClient()
  const { keyDefaults } = it
  const [scheme, setScheme] = useState(keyDefaults.scheme)
  const [days, setDays] = useState(String(keyDefaults.expiresAfterDays ?? ''))
  const [cidrs, setCidrs] = useState((keyDefaults.cidrs ?? []).join('\n'))
  const save = useMutation({
    mutationFn: () => {
      const ranges = cidrs.split(/[\s,]+/).filter(Boolean)
      const wish = {
        scheme,
        expiresAfterDays: days === '' ? null : Number(days),
        cidrs: ranges.length === 0 ? null : ranges,
      }
      return call(
        'PATCH /organizations/:organization',
        { path: { organization: it.slug }, body: { keyDefaults: wish } },
        { version: it.version },
      )
    },
    onSuccess: () => {
      say(w.keyDefaultsSaved)
      void client.invalidateQueries({ queryKey: [it.slug, 'organization'] })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Card title={w.keyDefaults} lead={w.keyDefaultsLead}>
      <form className="stack" onSubmit={submit}>
        <SelectField
          label={w.scheme}
          value={scheme}
          options={(['x-api-key', 'bearer'] as const).map((value) => ({
            value,
            label: keysWords.scheme[value],
          }))}
          onValue={(value) => setScheme(value === 'bearer' ? 'bearer' : 'x-api-key')}
        />
        <TextField
          label={w.ends}
          hint={w.endsHint}
          error={fieldError(save.error, 'keyDefaults.expiresAfterDays')}
          inputMode="numeric"
          pattern="[1-9][0-9]{0,3}"
          value={days}
          onValue={setDays}
        />
        <TextArea
          label={w.addresses}
          hint={w.addressesHint}
          error={fieldError(save.error, 'keyDefaults.cidrs')}
          code
          rows={2}
          value={cidrs}
          onValue={setCidrs}
        />
        {save.isError ? <ProblemNotice error={save.error} /> : undefined}
        <div>
          <Button type="submit" look="primary" busy={save.isPending}>
            {words.save}
          </Button>
        </div>
      </form>
    </Card>
  )
}
