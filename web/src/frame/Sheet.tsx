import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { frameWords } from '../../words/en.ts'
import classes from './frame.module.css'

/** Shows the navigation as a drawer on screens too narrow for a column. */
export function Sheet({
  open,
  onClose,
  children,
}: {
  readonly open: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={classes.sheet} aria-label={frameWords.navigation}>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
