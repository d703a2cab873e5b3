import { useCallback, useEffect, useRef, useState } from 'react'
import { call } from '../../api/call.ts'
import { askedCalls, type CallFilter } from '../../api/calls.ts'
import type { Call } from '../../api/shapes.ts'
import { sayRefused } from '../../parts/Toasts.tsx'

const pollMs = 1000
const freshMs = 1500
const pageSize = 200
const mostKept = 5000

/** The live tail: asks once a second while the tab is seen; waits while somebody looks at a row or has scrolled. */
export function useLive(
  organization: string,
  filter: CallFilter,
  on: boolean,
  newestKnown: string | undefined,
) {
  const [rows, setRows] = useState<readonly Call[]>([])
  const [held, setHeld] = useState<readonly Call[]>([])
  const newest = useRef<string>(undefined)
  const looking = useRef(false)
  const arrivedAt = useRef(new Map<string, number>())
  const filterText = JSON.stringify(filter)

  useEffect(() => {
    setRows([])
    setHeld([])
    newest.current = undefined
  }, [filterText, on, organization])

  useEffect(() => {
    if (!on) return undefined
    const stop = new AbortController()
    let failures = 0
    async function ask(): Promise<void> {
      if (document.visibilityState !== 'visible') return
      const after = newest.current ?? newestKnown
      const wanted = JSON.parse(filterText) as CallFilter
      const answer = await call(
        'GET /organizations/:organization/calls',
        { path: { organization }, query: { ...askedCalls(wanted), limit: pageSize, newer: after } },
        { signal: stop.signal, quiet: true },
      )
      failures = 0
      const arrived = answer.items.filter((one) => after === undefined || one.id > after)
      if (arrived.length === 0) return
      newest.current = arrived.reduce(
        (latest, one) => (one.id > latest ? one.id : latest),
        after ?? '',
      )
      for (const one of arrived) arrivedAt.current.set(one.id, Date.now())
      const sorted = [...arrived].sort((one, other) => (one.id < other.id ? 1 : -1))
      const paused = looking.current || window.scrollY > 300
      if (paused) setHeld((before) => [...sorted, ...before].slice(0, mostKept))
      else setRows((before) => [...sorted, ...before].slice(0, mostKept))
    }
    async function loop(): Promise<void> {
      while (!stop.signal.aborted) {
        try {
          await ask()
        } catch (error) {
          if (stop.signal.aborted) return
          failures += 1
          if (failures === 3) sayRefused(error)
        }
        await new Promise((resolve) => setTimeout(resolve, pollMs * Math.min(10, 1 + failures)))
      }
    }
    void loop()
    return () => stop.abort()
  }, [on, organization, filterText, newestKnown])

  const show = useCallback(() => {
    setRows((before) => [...held, ...before].slice(0, mostKept))
    setHeld([])
    looking.current = false
    window.scrollTo({ top: 0 })
  }, [held])

  return {
    rows,
    waiting: held.length,
    show,
    look: useCallback((event: { readonly target: EventTarget }) => {
      if (event.target instanceof HTMLElement && event.target.tagName === 'TR')
        looking.current = true
    }, []),
    lookAway: useCallback(() => {
      looking.current = false
    }, []),
    isFresh: (id: string) => Date.now() - (arrivedAt.current.get(id) ?? 0) < freshMs,
  }
}
