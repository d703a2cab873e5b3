import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { membersWords } from '../../../words/en/members.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Facts } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { providerName } from './provider-name.ts'

const w = membersWords.you

/**
 * Shows the account that a provider has just proven, and adds it to the person's account once they confirm. The proof
 * is in the page's URL, and is removed from it when the dialog closes.
 */
export function AddIdentity({ proof }: { readonly proof: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const look = useQuery({
    queryKey: ['identity-proof', proof],
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    queryFn: () => call('POST /me/identities/look', { body: { proof } }),
  })
  const close = async () => await navigate({ to: '/you', search: {}, replace: true })
  const add = useMutation({
    mutationFn: () => call('POST /me/identities', { body: { proof } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['me'] })
      await close()
      say(w.linked)
    },
  })
  return (
    <FormDialog
      onClose={() => void close()}
      title={w.linkTitle}
      lead={w.linkLead}
      action={w.linkAction}
      saving={add}
      disabled={look.data === undefined}
      onSubmit={() => add.mutate()}
    >
      {look.data === undefined ? (
        <QueryState query={look} />
      ) : (
        <Facts
          facts={[
            [w.linkProvider, providerName(look.data.provider)],
            [w.email, look.data.email],
            [w.linkName, look.data.name],
            [w.linkSubject, <code key="subject">{look.data.subject}</code>],
          ]}
        />
      )}
    </FormDialog>
  )
}
