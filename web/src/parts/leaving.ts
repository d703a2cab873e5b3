import { useBlocker } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'

/** Whether a form has changes that were not saved, and the question before they are lost. */
export interface Leaving {
  readonly isAsked: boolean
  readonly stay: () => void
  readonly leave: () => void
}

/** Asks before another page takes the place of a form with unsaved changes; the browser asks before it closes the tab. */
export function useLeaving(isDirty: () => boolean): Leaving {
  const blocked = useBlocker({
    shouldBlockFn: isDirty,
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return {
    isAsked: blocked.status === 'blocked',
    stay: () => blocked.reset?.(),
    leave: () => blocked.proceed?.(),
  }
}

/** Notes that somebody edited a form, until it is sent. */
export function useEdited() {
  const edited = useRef(false)
  const [isAsked, ask] = useState(false)
  return {
    isEdited: useCallback(() => edited.current, []),
    onInput: useCallback(() => (edited.current = true), []),
    forget: useCallback(() => (edited.current = false), []),
    isAsked,
    ask,
  }
}
