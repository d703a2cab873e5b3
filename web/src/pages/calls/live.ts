import { useCallback, useEffect, useRef, useState } from 'react'
import { call } from '../../api/call.ts'
import { askedCalls, type CallFilter } from '../../api/calls.ts'
import type { Call } from '../../api/shapes.ts'
import { sayRefused } from '../../parts/Toasts.tsx'

const pollMs = 1000
const freshMs = 1500
const pageSize = 200
const mostKept = 5000

interface Followed {
  readonly organization: string
  readonly filter: CallFilter
  readonly on: boolean
  /** The id of the newest call in the list; undefined if the list is empty. */
  readonly newestKnown: string | undefined
}

/** Follows new calls, and holds them back while a row has the focus or the page is scrolled down. */
export function useLive({ organization, filter, on, newestKnown }: Followed) {
  const [rows, setRows] = useState<readonly Call[]>([])
  const [held, setHeld] = useState<readonly Call[]>([])
  const heldNow = useRef(held)
  heldNow.current = held
  const looking = useRef(false)
  const arrivedAt = useRef(new Map<string, number>())
  const filterText = JSON.stringify(filter)
  const newest = useRef<string>(undefined)

  useEffect(() => {
    setRows([])
    setHeld([])
    newest.current = undefined
  }, [filterText, on, organization])

  useEffect(() => {
    if (!on) return undefined
    const stop = new AbortController()
    void pollUntil(stop.signal, async () => {
      const after = newest.current ?? newestKnown
      const wanted = JSON.parse(filterText) as CallFilter
      const arrived = await arrivedSince(after, { organization, wanted, signal: stop.signal })
      if (arrived[0] === undefined) return
      newest.current = arrived[0].id
      for (const one of arrived) arrivedAt.current.set(one.id, Date.now())
      const isPaused = looking.current || window.scrollY > 300
      const fresh = [...arrived, ...heldNow.current].slice(0, mostKept)
      setHeld(isPaused ? fresh : [])
      if (!isPaused) setRows((before) => [...fresh, ...before].slice(0, mostKept))
    })
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

interface Wanted {
  readonly organization: string
  readonly wanted: CallFilter
  readonly signal: AbortSignal
}

/**
 * Fetches page by page, because more calls may have arrived than one page contains, for instance while the tab was
 * hidden.
 */
async function arrivedSince(after: string | undefined, wanted: Wanted): Promise<readonly Call[]> {
  const arrived: Call[] = []
  let next: string | undefined
  do {
    const page = await pageOf({ newer: after, after: next }, wanted)
    arrived.push(...page.items)
    next = after === undefined ? undefined : page.next
  } while (next !== undefined && arrived.length < mostKept)
  return arrived
    .filter((one) => after === undefined || one.id > after)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
}

async function pageOf(
  between: { readonly newer: string | undefined; readonly after: string | undefined },
  { organization, wanted, signal }: Wanted,
) {
  return await call(
    'GET /organizations/:organization/calls',
    { path: { organization }, query: { ...askedCalls(wanted), limit: pageSize, ...between } },
    { signal, quiet: true },
  )
}

/** Calls `ask` every second while the tab is visible, and less often after failures. */
async function pollUntil(signal: AbortSignal, ask: () => Promise<void>): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      if (document.visibilityState === 'visible') await ask()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      if (failures === 3) sayRefused(error)
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs * Math.min(10, 1 + failures)))
  }
}
