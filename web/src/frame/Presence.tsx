import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { frameWords } from '../../words/en.ts'
import { onSignedOut, Refused } from '../api/call.ts'
import { meQuery } from '../api/me.ts'
import { buttonClass, Lamp } from '../parts/Button.tsx'
import { FormDialog } from '../parts/Dialogs.tsx'
import classes from './frame.module.css'

const retryMs = 3000

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
export function SignedOutDialog() {
  const client = useQueryClient()
  const [open, setOpen] = useState(false)
  const [error, setError] = useState<unknown>()
  useEffect(() => onSignedOut(() => setOpen(true)), [])
  async function goOn() {
    try {
      await client.fetchQuery({ ...meQuery, staleTime: 0 })
      setOpen(false)
      setError(undefined)
      await client.invalidateQueries()
    } catch (refusal) {
      setError(refusal)
    }
  }
  return (
    <FormDialog
      open={open}
      onClose={() => setOpen(false)}
      title={frameWords.signedOutTitle}
      lead={frameWords.signedOutText}
      action={frameWords.goOn}
      busy={false}
      error={error}
      onSubmit={() => void goOn()}
    >
      <p>
        <a
          className={buttonClass('plain')}
          href="/sign-in?return_to=/you"
          target="_blank"
          rel="noreferrer"
        >
          {frameWords.signInAgain}
        </a>
      </p>
    </FormDialog>
  )
}
