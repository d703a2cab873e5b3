import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { frameWords } from '../../words/en.ts'
import { meQuery } from '../api/me.ts'
import { buttonClass } from '../parts/Button.tsx'
import { FormDialog } from '../parts/Dialogs.tsx'

/** Asks the person to sign in again in another tab; after that, this page continues. */
export function SignedOutDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const [error, setError] = useState<unknown>()
  async function goOn() {
    try {
      await client.fetchQuery({ ...meQuery, staleTime: 0 })
      onClose()
      await client.invalidateQueries()
    } catch (refusal) {
      setError(refusal)
    }
  }
  return (
    <FormDialog
      onClose={onClose}
      title={frameWords.signedOutTitle}
      lead={frameWords.signedOutText}
      action={frameWords.goOn}
      saving={{ isPending: false, error }}
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
