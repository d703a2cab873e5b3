import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useState, type FormEvent, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import classes from './dialog.module.css'
import { TextField } from './Field.tsx'
import type { Saving } from './Dialogs.tsx'
import { ProblemNotice } from './States.tsx'

interface ConfirmDialogProps {
  /** Open by default: most dialogs exist only while they are open. */
  readonly open?: boolean
  readonly onClose: () => void
  readonly title: string
  readonly action: string
  readonly typed?: string | undefined
  readonly saving: Saving
  readonly onConfirm: () => void
  readonly children: ReactNode
}

/**
 * Removes the characters of a name that can't be typed or seen, and merges white space, so that a thing can be deleted
 * whatever its name contains.
 */
function typeable(name: string): string {
  return name
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
}

/** With `typed`, the person must type or paste that name to confirm. */
export function ConfirmDialog(dialog: ConfirmDialogProps) {
  const { open = true, title, typed } = dialog
  const { isPending: busy, error } = dialog.saving
  const [name, setName] = useState('')
  const ready = typed === undefined || typeable(name) === typeable(typed)
  function close() {
    setName('')
    dialog.onClose()
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    event.stopPropagation()
    if (ready && !busy) dialog.onConfirm()
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => (next ? undefined : close())}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={classes.veil} />
        <AlertDialog.Popup className={classes.dialog}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="stack-tight">
            {dialog.children}
          </AlertDialog.Description>
          <form className="stack" onSubmit={submit}>
            {typed === undefined ? undefined : (
              <TextField label={words.typeName(typed)} code value={name} onValue={setName} />
            )}
            {error === undefined || error === null ? undefined : <ProblemNotice error={error} />}
            <div className={classes.actions}>
              <Button onClick={close}>{words.cancel}</Button>
              <Button type="submit" look="dangerFull" busy={busy} disabled={!ready}>
                {dialog.action}
              </Button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
