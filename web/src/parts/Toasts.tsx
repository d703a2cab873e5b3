import { Toast } from '@base-ui/react/toast'
import type { ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import classes from './dialog.module.css'
import { asRefused } from './States.tsx'

const manager = Toast.createToastManager()

/** Says what was done, with an Undo where there is one. */
export function say(title: string, more: { text?: string; undo?: () => void } = {}): void {
  manager.add({
    title,
    type: 'pass',
    timeout: more.undo === undefined ? 5000 : 10_000,
    ...(more.text === undefined ? {} : { description: more.text }),
    ...(more.undo === undefined
      ? {}
      : { actionProps: { children: words.undo, onClick: more.undo } }),
  })
}

/** Says that something was refused, with its code and request id. */
export function sayRefused(error: unknown): void {
  const refusal = asRefused(error)
  const ids = [refusal.code, refusal.requestId].filter((one) => one !== undefined).join(' · ')
  manager.add({
    title: refusal.message,
    description: ids,
    type: 'refuse',
    timeout: 12_000,
    priority: 'high',
  })
}

/** Where toasts appear: below right, above everything. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={classes.toasts}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className={classes.toast}
      swipeDirection={['right', 'down']}
    >
      <Toast.Title className={classes.toastTitle} />
      <Toast.Description className={classes.toastText} />
      <div className={classes.toastActions}>
        {toast.actionProps === undefined ? undefined : <Toast.Action render={<Button small />} />}
        <Toast.Close render={<Button small look="quiet" icon="close" aria-label={words.close} />} />
      </div>
    </Toast.Root>
  ))
}
