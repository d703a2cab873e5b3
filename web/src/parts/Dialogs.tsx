import { Dialog } from '@base-ui/react/dialog'
import { useEffect, useRef, type FormEvent, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { cx } from './cx.ts'
import classes from './dialog.module.css'
import { useEdited, useLeaving } from './leaving.ts'
import { LeaveQuestion } from './LeaveQuestion.tsx'
import { ProblemNotice } from './States.tsx'

interface Opening {
  readonly open: boolean
  readonly onClose: () => void
}

/** The state of the action behind a dialog's button: whether it is in progress, and why it was refused. */
export interface Saving {
  readonly isPending: boolean
  readonly error?: unknown
}

interface FormDialogProps {
  /** Open by default: most dialogs exist only while they are open. */
  readonly open?: boolean
  readonly onClose: () => void
  readonly title: string
  readonly lead?: ReactNode
  readonly action: string
  readonly saving?: Saving
  readonly danger?: boolean
  readonly wide?: boolean
  readonly disabled?: boolean
  readonly onSubmit: () => void
  readonly children?: ReactNode
}

/** If the form has changes, closing the dialog asks first. */
export function FormDialog(form: FormDialogProps) {
  const edited = useEdited()
  const leaving = useLeaving(edited.isEdited)
  const error = form.saving?.error ?? undefined
  const { onInput } = edited
  const wasEdited = useRef(false)
  useEffect(() => {
    // A refused form is not saved, so closing the dialog must ask again.
    if (error !== undefined && wasEdited.current) onInput()
  }, [error, onInput])
  const sent = () => {
    wasEdited.current = edited.isEdited()
    edited.forget()
  }
  const close = () => (edited.isEdited() ? edited.ask(true) : form.onClose())
  return (
    <Dialog.Root
      open={form.open ?? true}
      disablePointerDismissal
      onOpenChange={(next) => (next ? undefined : close())}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={cx(classes.dialog, form.wide === true && classes.wide)}>
          <Dialog.Title>{form.title}</Dialog.Title>
          {form.lead === undefined ? undefined : (
            <Dialog.Description render={<div />}>{form.lead}</Dialog.Description>
          )}
          <DialogForm {...form} onClose={close} onSent={sent} onInput={edited.onInput} />
          <LeaveQuestion
            open={edited.isAsked || leaving.isAsked}
            onStay={() => {
              edited.ask(false)
              leaving.stay()
            }}
            onLeave={() => {
              edited.forget()
              edited.ask(false)
              if (leaving.isAsked) leaving.leave()
              else form.onClose()
            }}
          />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function DialogForm(
  form: FormDialogProps & { readonly onSent: () => void; readonly onInput: () => void },
) {
  const { disabled = false } = form
  const { isPending: busy, error } = form.saving ?? { isPending: false }
  function submit(event: FormEvent) {
    event.preventDefault()
    event.stopPropagation()
    if (busy || disabled) return
    form.onSent()
    form.onSubmit()
  }
  return (
    <form className="stack" onSubmit={submit} onInput={form.onInput}>
      {form.children}
      {error === undefined || error === null ? undefined : <ProblemNotice error={error} />}
      <div className={classes.actions}>
        <Button onClick={form.onClose}>{words.cancel}</Button>
        <Button
          type="submit"
          look={form.danger === true ? 'dangerFull' : 'primary'}
          busy={busy}
          disabled={disabled}
        >
          {form.action}
        </Button>
      </div>
    </form>
  )
}

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
