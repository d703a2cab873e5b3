import { lazy, Suspense, useState } from 'react'
import { callsWords as w } from '../../../words/en/calls.ts'
import { Button } from '../../parts/Button.tsx'
import { Menu, MenuItem, MenuLine } from '../../parts/Menu.tsx'
import { say } from '../../parts/Toasts.tsx'
import { whole } from '../../parts/upgrade.ts'
import { readViews, writeViews, type View } from './views.ts'

// Loaded on demand, because few visits save a view and the code for dialogs is large.
const SaveView = lazy(async () => ({
  default: (await whole(async () => await import('./SaveView.tsx'))()).SaveView,
}))

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
        <Suspense fallback={undefined}>
          <SaveView
            onClose={() => setSaving(false)}
            onSave={(name) => {
              const view = { name, search }
              keep([...views.filter((one) => one.name !== view.name), view])
              say(w.viewSaved(view.name))
              setSaving(false)
            }}
          />
        </Suspense>
      ) : undefined}
    </>
  )
}
