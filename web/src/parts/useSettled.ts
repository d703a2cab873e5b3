import { useEffect, useState } from 'react'

const settledMs = 150

/** Returns the text as it was when typing last paused, so that not every keystroke causes a request. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), settledMs)
    return () => window.clearTimeout(timer)
  }, [text])
  return settled
}
