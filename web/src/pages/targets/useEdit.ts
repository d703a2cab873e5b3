import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call, type Input } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { say } from '../../parts/Toasts.tsx'

type Body = NonNullable<Input<'PATCH /organizations/:organization/targets/:target'>['body']>

/** Changes a target; refused if somebody else has changed it since it was read. */
export function useEdit(organization: string, it: Target, saved: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Body) =>
      call(
        'PATCH /organizations/:organization/targets/:target',
        { path: { organization, target: it.slug }, body },
        { version: it.version },
      ),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [organization, 'targets'] })
      say(saved)
    },
  })
}
