import { useEffect, useState } from 'react'

const settledMs = 150

/** The text as of when typing last paused, for requests to the server. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), settledMs)
    return () => window.clearTimeout(timer)
  }, [text])
  return settled
}
