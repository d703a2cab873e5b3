import { useEffect, useState } from 'react'

const usualPauseMs = 150

/** Returns the last value that stayed unchanged for `pauseMs`, so that not every keystroke causes a request. */
export function useSettled<T>(value: T, pauseMs = usualPauseMs): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), pauseMs)
    return () => window.clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
