import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { inTurns } from './in-turns.ts'

export interface BulkKeysProps {
  readonly organization: string
  readonly keys: readonly Key[]
  readonly onDone: () => void
}

export type Asking = BulkKeysProps & { readonly onClose: () => void }

export function useEach(props: Asking, each: (key: Key) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async () => await inTurns(props.keys, each),
    onSettled: () => void client.invalidateQueries({ queryKey: [props.organization, 'keys'] }),
    onSuccess: ({ done, failures }) => {
      if (failures.length > 0) sayRefused(failures[0])
      say(w.bulk.done(done, props.keys.length))
      props.onDone()
    },
  })
}
