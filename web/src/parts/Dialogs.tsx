import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog } from '@base-ui/react/dialog'
import { useState, type FormEvent, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { cx } from './cx.ts'
import classes from './dialog.module.css'
import { TextField } from './Field.tsx'
import { ProblemNotice } from './States.tsx'

interface Opening {
  readonly open: boolean
  readonly onClose: () => void
}

/** A dialog with a form: Enter sends, the first field has the focus, a refusal is shown above the buttons. */
export function FormDialog({
  open,
  onClose,
  title,
  lead,
  action,
  busy,
  error,
  danger = false,
  wide = false,
  disabled = false,
  onSubmit,
  children,
}: Opening & {
  readonly title: string
  readonly lead?: ReactNode
  readonly action: string
  readonly busy: boolean
  readonly error?: unknown
  readonly danger?: boolean
  readonly wide?: boolean
  readonly disabled?: boolean
  readonly onSubmit: () => void
  readonly children?: ReactNode
}) {
  function submit(event: FormEvent) {
    event.preventDefault()
    event.stopPropagation()
    if (!busy && !disabled) onSubmit()
  }
  return (
    <Dialog.Root
      open={open}
      disablePointerDismissal
      onOpenChange={(next) => (next ? undefined : onClose())}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={cx(classes.dialog, wide && classes.wide)}>
          <Dialog.Title>{title}</Dialog.Title>
          {lead === undefined ? undefined : (
            <Dialog.Description render={<div />}>{lead}</Dialog.Description>
          )}
          <form className="stack" onSubmit={submit}>
            {children}
            {error === undefined || error === null ? undefined : <ProblemNotice error={error} />}
            <div className={classes.actions}>
              <Button onClick={onClose}>{words.cancel}</Button>
              <Button
                type="submit"
                look={danger ? 'dangerFull' : 'primary'}
                busy={busy}
                disabled={disabled}
              >
                {action}
              </Button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** The one question before something that can't be undone. With `typed`, the name must be typed or pasted. */
export function ConfirmDialog({
  open,
  onClose,
  title,
  action,
  typed,
  busy,
  error,
  onConfirm,
  children,
}: Opening & {
  readonly title: string
  readonly action: string
  readonly typed?: string | undefined
  readonly busy: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly children: ReactNode
}) {
  const [name, setName] = useState('')
  const ready = typed === undefined || name.trim() === typed
  function submit(event: FormEvent) {
    event.preventDefault()
    event.stopPropagation()
    if (ready && !busy) onConfirm()
  }
  return (
    <AlertDialog.Root
      open={open}
      onOpenChange={(next) => {
        if (next) return
        setName('')
        onClose()
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={classes.veil} />
        <AlertDialog.Popup className={classes.dialog}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="stack-tight">
            {children}
          </AlertDialog.Description>
          <form className="stack" onSubmit={submit}>
            {typed === undefined ? undefined : (
              <TextField label={words.typeName(typed)} code value={name} onValue={setName} />
            )}
            {error === undefined || error === null ? undefined : <ProblemNotice error={error} />}
            <div className={classes.actions}>
              <Button
                onClick={() => {
                  setName('')
                  onClose()
                }}
              >
                {words.cancel}
              </Button>
              <Button type="submit" look="dangerFull" busy={busy} disabled={!ready}>
                {action}
              </Button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

/** Details of one row, from the side; the page stays where it is. */
export function Drawer({
  open,
  onClose,
  title,
  actions,
  children,
}: Opening & {
  readonly title: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={classes.drawer}>
          <div className={classes.drawerHead}>
            <Dialog.Title>{title}</Dialog.Title>
            <span className={classes.drawerActions}>
              {actions}
              <Dialog.Close
                render={<Button look="quiet" icon="close" aria-label={words.close} />}
              />
            </span>
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** A dialog without a form, for pictures of something: help, previews. */
export function PlainDialog({
  open,
  onClose,
  title,
  children,
}: Opening & { readonly title: string; readonly children: ReactNode }) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={classes.dialog}>
          <Dialog.Title>{title}</Dialog.Title>
          {children}
          <div className={classes.actions}>
            <Dialog.Close render={<Button>{words.close}</Button>} />
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
