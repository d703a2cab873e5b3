import { useIsFetching } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

const quietMs = 300

/** Whether the page has received what it requested first; less urgent data waits for this. */
export function useQuiet(): boolean {
  const fetching = useIsFetching()
  const [isQuiet, setQuiet] = useState(false)
  useEffect(() => {
    if (isQuiet || fetching > 0) return undefined
    const timer = window.setTimeout(() => setQuiet(true), quietMs)
    return () => window.clearTimeout(timer)
  }, [isQuiet, fetching])
  return isQuiet
}
