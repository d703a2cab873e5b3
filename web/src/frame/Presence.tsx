import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { frameWords } from '../../words/en.ts'
import { onSignedOut, Refused } from '../api/call.ts'
import { Lamp } from '../parts/Button.tsx'
import classes from './frame.module.css'
import { whole } from './upgrade.ts'

const retryMs = 3000
const load = whole(async () => await import('./SignedOutDialog.tsx'))
const SignedOutDialog = lazy(async () => ({ default: (await load()).SignedOutDialog }))

/** Says that the server does not answer, and keeps asking until it does. */
export function OfflineBanner() {
  const client = useQueryClient()
  const [offline, setOffline] = useState(false)
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated') return
        if (event.action.type === 'error') {
          const error: unknown = event.action.error
          if (error instanceof Refused && error.code === 'offline') setOffline(true)
        }
        if (event.action.type === 'success') setOffline(false)
      }),
    [client],
  )
  useEffect(() => {
    if (!offline) return undefined
    const timer = window.setInterval(() => void client.refetchQueries({ type: 'active' }), retryMs)
    return () => window.clearInterval(timer)
  }, [offline, client])
  if (!offline) return undefined
  return (
    <div className={classes.banner} role="status">
      <Lamp />
      {frameWords.offline}
    </div>
  )
}

/** The session ended while a page was open: sign in beside it, and nothing typed is lost. */
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
