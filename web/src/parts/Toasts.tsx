import { useSyncExternalStore, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import classes from './dialog.module.css'
import { asRefused } from './States.tsx'

interface Toast {
  readonly id: number
  readonly title: string
  readonly text: string | undefined
  readonly type: 'pass' | 'refuse'
  readonly undo: (() => void) | undefined
}

const mostShown = 3
const shownMs = { pass: 5000, undo: 10_000, refuse: 12_000 }
const listeners = new Set<() => void>()
let toasts: readonly Toast[] = []
let lastId = 0
/** Whether toasts stay on the page, because somebody is reading one or about to press its button (WCAG 2.2.1). */
let held = false
const heldAgainMs = 1000

export function say(title: string, more: { text?: string; undo?: () => void } = {}): void {
  const { text, undo } = more
  show({ title, text, undo, type: 'pass' }, undo === undefined ? shownMs.pass : shownMs.undo)
}

/** Says what was done and offers Undo; if undoing is refused, says why. */
export function sayUndoable(title: string, undo: () => Promise<unknown>): void {
  say(title, { undo: () => void undo().then(() => say(words.undone), sayRefused) })
}

export function sayRefused(error: unknown): void {
  const refusal = asRefused(error)
  const text = [refusal.code, refusal.requestId].filter((one) => one !== undefined).join(' · ')
  show({ title: refusal.message, text, undo: undefined, type: 'refuse' }, shownMs.refuse)
}

/** The place for toasts: bottom right, above everything. They are announced politely and never take the focus. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  const shown = useSyncExternalStore(listen, () => toasts)
  return (
    <>
      {children}
      {createPortal(
        <div
          className={classes.toasts}
          role="region"
          aria-label={words.messages}
          aria-live="polite"
          onFocus={() => (held = true)}
          onBlur={() => (held = false)}
          onPointerEnter={() => (held = true)}
          onPointerLeave={() => (held = false)}
        >
          {shown.map((toast) => (
            <div key={toast.id} className={classes.toast} data-type={toast.type}>
              <p className={classes.toastTitle}>{toast.title}</p>
              {toast.text === undefined ? undefined : (
                <p className={classes.toastText}>{toast.text}</p>
              )}
              <div className={classes.toastActions}>
                {toast.undo === undefined ? undefined : (
                  <Button
                    small
                    onClick={() => {
                      toast.undo?.()
                      hide(toast.id)
                    }}
                  >
                    {words.undo}
                  </Button>
                )}
                <Button
                  small
                  look="quiet"
                  icon="close"
                  aria-label={words.close}
                  onClick={() => hide(toast.id)}
                />
              </div>
            </div>
          ))}
        </div>,
        document.body,
      )}
    </>
  )
}

function show(toast: Omit<Toast, 'id'>, ms: number): void {
  lastId += 1
  const id = lastId
  put([...toasts, { ...toast, id }].slice(-mostShown))
  hideLater(id, ms)
}

function hideLater(id: number, ms: number): void {
  window.setTimeout(() => (held ? hideLater(id, heldAgainMs) : hide(id)), ms)
}

function hide(id: number): void {
  // Removing an element that is under the pointer or has the focus fires no leave or blur event, so `held` is reset
  // here.
  held = false
  put(toasts.filter((toast) => toast.id !== id))
}

function put(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
