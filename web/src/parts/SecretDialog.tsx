import { Dialog } from '@base-ui/react/dialog'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { copyLabel } from './copy-text.ts'
import { useCopy } from './Copy.tsx'
import { cx } from './cx.ts'
import classes from './dialog.module.css'

interface SecretDialogProps {
  readonly secret: string
  readonly name: string
  readonly title: string
  readonly lead: ReactNode
  readonly onClose: () => void
  readonly children?: ReactNode
}

/**
 * Until the secret is copied, Escape and outside clicks don't close the dialog, and the browser asks before leaving the
 * page. Mount the dialog at page level, so that reloading a list does not unmount it.
 */
export function SecretDialog(dialog: SecretDialogProps) {
  const { secret, onClose } = dialog
  const node = useRef<HTMLElement>(null)
  const first = useRef<HTMLButtonElement>(null)
  const [outcome, copy] = useCopy(node)
  const [safe, setSafe] = useState(false)
  const [held, setHeld] = useState(false)
  useHeldPage(!safe)

  return (
    <Dialog.Root
      open
      onOpenChange={(next) => (next ? undefined : safe ? onClose() : setHeld(true))}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={cx(classes.dialog, classes.wide)} initialFocus={first}>
          <Dialog.Title>{dialog.title}</Dialog.Title>
          <Dialog.Description>{dialog.lead}</Dialog.Description>
          <div className={classes.secret}>
            <code ref={node} data-secret>
              {secret}
            </code>
            <div>
              <Button
                ref={first}
                look="primary"
                icon={outcome === 'copied' ? 'check' : 'copy'}
                onClick={() =>
                  void copy(secret).then((copied) => (copied ? setSafe(true) : undefined))
                }
              >
                {copyLabel(outcome, words.copyName(dialog.name))}
              </Button>
            </div>
          </div>
          {dialog.children}
          <p role="status" className={held && !safe ? undefined : 'visually-hidden'}>
            {held && !safe ? (
              <strong>{words.secretHeld}</strong>
            ) : outcome === 'copied' ? (
              words.copied
            ) : (
              ''
            )}
          </p>
          <div className={classes.actions}>
            <Button onClick={onClose}>{words.stored}</Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useHeldPage(isHeld: boolean): void {
  useEffect(() => {
    if (!isHeld) return undefined
    const hold = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', hold)
    return () => window.removeEventListener('beforeunload', hold)
  }, [isHeld])
}
