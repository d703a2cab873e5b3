import { useState } from 'react'
import { callsWords as w } from '../../../words/en/calls.ts'
import { Button } from '../../parts/Button.tsx'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { TextField } from '../../parts/Field.tsx'
import { Menu, MenuItem, MenuLine } from '../../parts/Menu.tsx'
import { say } from '../../parts/Toasts.tsx'
import { readViews, writeViews, type View } from './views.ts'

/** Named ranges and filters, saved for later. */
export function SavedViews({
  organization,
  search,
  onOpen,
}: {
  readonly organization: string
  readonly search: View['search']
  readonly onOpen: (search: View['search']) => void
}) {
  const [views, setViews] = useState(() => readViews(organization))
  const [saving, setSaving] = useState(false)
  const [name, setName] = useState('')
  function keep(next: readonly View[]) {
    setViews(next)
    writeViews(organization, next)
  }
  return (
    <>
      <Menu trigger={<Button>{w.savedViews}</Button>}>
        {views.map((view) => (
          <MenuItem key={view.name} onClick={() => onOpen(view.search)}>
            {view.name}
          </MenuItem>
        ))}
        {views.length === 0 ? undefined : <MenuLine />}
        <MenuItem onClick={() => setSaving(true)}>{w.saveView}</MenuItem>
        {views.map((view) => (
          <MenuItem
            key={`remove ${view.name}`}
            onClick={() => keep(views.filter((one) => one !== view))}
          >
            {w.removeView(view.name)}
          </MenuItem>
        ))}
      </Menu>
      {saving ? (
        <FormDialog
          onClose={() => setSaving(false)}
          title={w.saveViewTitle}
          lead={w.saveViewLead}
          action={w.saveViewTitle}
          disabled={name.trim() === ''}
          onSubmit={() => {
            const view = { name: name.trim(), search }
            keep([...views.filter((one) => one.name !== view.name), view])
            say(w.viewSaved(view.name))
            setSaving(false)
            setName('')
          }}
        >
          <TextField label={w.viewName} maxLength={60} value={name} onValue={setName} />
        </FormDialog>
      ) : undefined}
    </>
  )
}
