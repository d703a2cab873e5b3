import { useState } from 'react'

/** A text that survives a reload of this tab, such as what was typed into the wizard. */
export function useKept(name: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => read(name))
  return [
    text,
    (next) => {
      setText(next)
      try {
        sessionStorage.setItem(name, next)
      } catch {
        // Storage is closed: it lasts as long as the page.
      }
    },
  ]
}

/** Forgets everything the wizard kept. */
export function forgetKept(...names: readonly string[]): void {
  try {
    for (const name of names) sessionStorage.removeItem(name)
  } catch {
    // Storage is closed: nothing was kept.
  }
}

function read(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? ''
  } catch {
    return ''
  }
}
