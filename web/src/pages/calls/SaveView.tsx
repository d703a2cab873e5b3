import { useState } from 'react'
import { callsWords as w } from '../../../words/en/calls.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { TextField } from '../../parts/Field.tsx'

export function SaveView({
  onClose,
  onSave,
}: {
  readonly onClose: () => void
  readonly onSave: (name: string) => void
}) {
  const [name, setName] = useState('')
  return (
    <FormDialog
      onClose={onClose}
      title={w.saveViewTitle}
      lead={w.saveViewLead}
      action={w.saveViewTitle}
      disabled={name.trim() === ''}
      onSubmit={() => onSave(name.trim())}
    >
      <TextField label={w.viewName} maxLength={60} value={name} onValue={setName} />
    </FormDialog>
  )
}
