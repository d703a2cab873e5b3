import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { frameWords } from '../../words/en.ts'
import { onSignedOut, Refused } from '../api/call.ts'
import { Lamp } from '../parts/Button.tsx'
import classes from './frame.module.css'
import { whole } from '../parts/upgrade.ts'

/** The time between retries. It is longer if the server returns errors, because retries add to the server's load. */
const retryMs = { offline: 3000, unanswered: 3000, failing: 5000 }
const load = whole(async () => await import('./SignedOutDialog.tsx'))
const SignedOutDialog = lazy(async () => ({ default: (await load()).SignedOutDialog }))

type Trouble = keyof typeof frameWords.troubles

/** Shows that the server does not respond or returns errors, and retries until it works again. */
export function TroubleBanner() {
  const client = useQueryClient()
  const [trouble, setTrouble] = useState<Trouble>()
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated') return
        const { type } = event.action
        if (type === 'error' || type === 'success') setTrouble(troubleOf(client))
      }),
    [client],
  )
  useEffect(() => {
    if (trouble === undefined) return undefined
    const ask = () => void client.refetchQueries({ type: 'active', predicate: isTroubled })
    const timer = window.setInterval(ask, retryMs[trouble])
    window.addEventListener('online', ask)
    return () => {
      window.clearInterval(timer)
      window.removeEventListener('online', ask)
    }
  }, [trouble, client])
  if (trouble === undefined) return undefined
  return (
    <div className={classes.banner} role="status">
      <Lamp />
      {frameWords.troubles[trouble]}
    </div>
  )
}

/** What is wrong with the connection or the server, judged by this page's queries; undefined if nothing is. */
function troubleOf(client: QueryClient): Trouble | undefined {
  const troubled = client.getQueryCache().findAll({ type: 'active', predicate: isTroubled })
  if (troubled.length === 0) return undefined
  const unanswered = troubled.some(({ state: { error } }) => (error as Refused).status === 0)
  if (!unanswered) return 'failing'
  return navigator.onLine ? 'unanswered' : 'offline'
}

function isTroubled({ state: { error } }: Query): boolean {
  return error instanceof Refused && (error.code === 'offline' || error.status >= 500)
}

/** Offers a new sign-in in another tab when the session ends while a page is open, so that nothing typed is lost. */
export function SignedOut() {
  const [open, setOpen] = useState(false)
  useEffect(() => onSignedOut(() => setOpen(true)), [])
  if (!open) return undefined
  return (
    <Suspense fallback={undefined}>
      <SignedOutDialog onClose={() => setOpen(false)} />
    </Suspense>
  )
}
