import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { editKey, type KeyBody } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { targetsQuery } from '../../api/targets.ts'
import { words } from '../../../words/en.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { fieldError } from '../../parts/States.tsx'
import { sayUndoable } from '../../parts/Toasts.tsx'
import { bodyOf, draftOf, inputOf, KeyFields, type KeyDraft } from './key-fields.tsx'

const asNow = 'now'

interface EditProps {
  readonly organization: string
  readonly it: Key
  readonly onDone: () => void
}

/** Edits a key's name, expiry, restrictions and labels in place; its id, scheme and secret stay the same. */
export function EditKey({ organization, it: newest, onDone }: EditProps) {
  // The form keeps the version that it was opened with, so that saving is refused if someone else has changed the key.
  const [it] = useState(newest)
  const [draft, setDraft] = useState(() => ({ ...draftOf(it), days: asNow }))
  const targets = useQuery(targetsQuery(organization))
  const edit = useEditing({ organization, it, onDone })
  return (
    <FormDialog
      onClose={onDone}
      title={w.edit.title(it.name)}
      lead={w.edit.lead}
      action={words.save}
      saving={edit}
      disabled={draft.name.trim() === ''}
      onSubmit={() => edit.mutate(draft)}
    >
      <TextField
        label={w.form.name}
        error={fieldError(edit.error, 'name')}
        value={draft.name}
        maxLength={100}
        required
        onValue={(name) => setDraft((before) => ({ ...before, name }))}
      />
      <SelectField
        label={w.form.ends}
        value={draft.days}
        options={[
          { value: asNow, label: w.edit.endsAsNow },
          ...Object.entries(w.form.endChoices).map(([value, label]) => ({ value, label })),
        ]}
        onValue={(days) => setDraft((before) => ({ ...before, days }))}
      />
      <KeyFields
        draft={draft}
        error={edit.error}
        before={it}
        slugs={(targets.data?.items ?? []).map((target) => target.slug)}
        onPatch={(patch) => setDraft((before) => ({ ...before, ...patch }))}
      />
    </FormDialog>
  )
}

function useEditing({ organization, it, onDone }: EditProps) {
  const client = useQueryClient()
  const put = async (body: KeyBody, version: number) => {
    const after = await editKey(organization, { id: it.id, version }, body)
    void client.invalidateQueries({ queryKey: [organization, 'keys'] })
    return after
  }
  return useMutation({
    mutationFn: async (draft: KeyDraft) => {
      const before = bodyOf(it)
      const { expires_at: expiresAt, ...input } = inputOf(draft, it)
      const ends = draft.days === asNow ? it.expires_at : expiresAt
      const body = { ...input, ...(ends === undefined ? {} : { expires_at: ends }) }
      const { version } = await put(body, it.version)
      return { before, version }
    },
    onSuccess: ({ before, version }) => {
      sayUndoable(w.edit.done, async () => await put(before, version))
      onDone()
    },
  })
}
