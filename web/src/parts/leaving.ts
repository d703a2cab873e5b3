import { useBlocker } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'

export interface Leaving {
  readonly isAsked: boolean
  readonly stay: () => void
  readonly leave: () => void
}

/** Asks before navigating away from a form with unsaved changes; the browser itself asks before closing the tab. */
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

/** Tracks whether a form was edited since `forget` was last called. */
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
