import { useState } from 'react'

/** A text that survives a reload of this tab, such as what was typed into the setup. */
export function useKept(name: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => read(name))
  return [
    text,
    (next) => {
      setText(next)
      try {
        sessionStorage.setItem(name, next)
      } catch {
        // Storage is unavailable, so the text lasts only as long as the page.
      }
    },
  ]
}

export function forgetKept(...names: readonly string[]): void {
  try {
    for (const name of names) sessionStorage.removeItem(name)
  } catch {
    // Storage is unavailable, so nothing was stored.
  }
}

function read(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? ''
  } catch {
    return ''
  }
}
