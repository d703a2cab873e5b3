import { useEffect, useSyncExternalStore } from 'react'

const storageName = 'single-key-shortcuts'
const listeners = new Set<() => void>()
const chordMs = 1200
let memory: string | undefined

/** Whether single-key shortcuts work; a person can turn them off (WCAG 2.1.4). */
export function useSingleKeys(): readonly [boolean, (on: boolean) => void] {
  const on = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => read() !== 'off',
  )
  return [on, write]
}

/**
 * Calls `onKey` with a pressed key ('l'), with 'g k' for a k soon after a g, and with 'mod+k' for Ctrl or Cmd with k.
 * Only 'mod+k' also works in text fields, dialogs and menus, and while single-key shortcuts are turned off. `onKey`
 * returns whether to prevent the browser's own action for the key.
 */
export function useShortcuts(onKey: (key: string) => boolean): void {
  useEffect(() => {
    let first: { key: string; at: number } | undefined
    function handle(event: KeyboardEvent) {
      if (event.defaultPrevented || event.isComposing) return
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        if (onKey('mod+k')) event.preventDefault()
        return
      }
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        read() === 'off' ||
        isBusy(event.target)
      )
        return
      const chord =
        first !== undefined && Date.now() - first.at < chordMs
          ? `${first.key} ${event.key}`
          : event.key
      first = event.key === 'g' ? { key: 'g', at: Date.now() } : undefined
      if (onKey(chord)) event.preventDefault()
    }
    document.addEventListener('keydown', handle)
    return () => document.removeEventListener('keydown', handle)
  }, [onKey])
}

function isBusy(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest('[role=dialog], [role=alertdialog], [role=menu]') !== null
  )
}

function read(): string | undefined {
  try {
    return localStorage.getItem(storageName) ?? memory
  } catch {
    return memory
  }
}

function write(on: boolean): void {
  memory = on ? 'on' : 'off'
  try {
    localStorage.setItem(storageName, memory)
  } catch {
    // Storage is unavailable, so the choice lasts only as long as the page.
  }
  for (const listener of listeners) listener()
}
