import { useState } from 'react'
import { editKey } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { words } from '../../../words/en.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { bodyOf } from './key-fields.tsx'
import { readLabels } from './label-text.ts'
import { useEach, type Asking } from './useEach.ts'

const w = keysWords.labels

/** Sets and removes labels on several keys; all other labels stay. */
export function LabelKeys(props: Asking) {
  const { organization, keys } = props
  const [typed, setTyped] = useState('')
  const [ended, setEnded] = useState('')
  const { labels, wrong } = readLabels(typed)
  const names = ended.split(/[\s,]+/).filter(Boolean)
  const change = useEach(props, async (key) => {
    const after = labelsAfter(key, { labels, names })
    await editKey(organization, key, { ...bodyOf(key), labels: after })
  })
  return (
    <FormDialog
      onClose={props.onClose}
      title={w.bulkTitle(keys.length)}
      lead={w.bulkLead}
      action={words.save}
      saving={change}
      disabled={Object.keys(labels).length === 0 && names.length === 0}
      onSubmit={() => change.mutate()}
    >
      <TextArea
        label={w.set}
        hint={w.hint}
        wrong={wrong}
        code
        rows={3}
        value={typed}
        onValue={setTyped}
      />
      <TextField label={w.remove} hint={w.removeHint} code value={ended} onValue={setEnded} />
    </FormDialog>
  )
}

function labelsAfter(
  key: Key,
  { labels, names }: { labels: Readonly<Record<string, string>>; names: readonly string[] },
): Record<string, string> {
  const kept = Object.entries(key.labels ?? {}).filter(([name]) => !names.includes(name))
  return Object.fromEntries([...kept, ...Object.entries(labels)])
}
