import { AlertDialog } from '@base-ui/react/alert-dialog'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import classes from './dialog.module.css'

const w = words.leaving

export function LeaveQuestion({
  open,
  onStay,
  onLeave,
}: {
  readonly open: boolean
  readonly onStay: () => void
  readonly onLeave: () => void
}) {
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => (next ? undefined : onStay())}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={classes.veil} />
        <AlertDialog.Popup className={classes.dialog}>
          <AlertDialog.Title>{w.title}</AlertDialog.Title>
          <AlertDialog.Description>{w.text}</AlertDialog.Description>
          <div className={classes.actions}>
            <Button onClick={onStay}>{w.stay}</Button>
            <Button look="dangerFull" onClick={onLeave}>
              {w.leave}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
