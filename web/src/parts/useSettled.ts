import { useEffect, useState } from 'react'

const settledMs = 150

/** A text as it was when the typing last paused: what the server is asked for. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), settledMs)
    return () => window.clearTimeout(timer)
  }, [text])
  return settled
}
