import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call, type Input } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { say, sayUndoable } from '../../parts/Toasts.tsx'
import { versionFor } from '../../parts/useDraft.ts'

export interface TargetFormProps {
  readonly organization: string
  readonly it: Target
  readonly editable: boolean
}

type Body = NonNullable<Input<'PATCH /organizations/:organization/targets/:target'>['body']>

/**
 * Changes a target; refused if somebody else has changed the same fields since the form showed them. Offers Undo, which
 * restores the previous values, unless that might need a credential, which can't be read back.
 */
export function useEdit(
  organization: string,
  it: Target,
  {
    base,
    saved,
    onDone,
  }: {
    /** The target as it was when the form was filled from it. */
    readonly base: Target
    readonly saved: string
    /** Called once the changed target has been read again, so that the form shows the new values. */
    readonly onDone: () => void
  },
) {
  const client = useQueryClient()
  const patch = async (body: Body, version: number) => {
    const path = { organization, target: it.slug }
    const route = 'PATCH /organizations/:organization/targets/:target'
    const after = await call(route, { path, body }, { version })
    await client.invalidateQueries({ queryKey: [organization, 'targets'] })
    onDone()
    return after
  }
  return useMutation({
    mutationFn: async (body: Body) => {
      // The old values are taken before the request, because `onSuccess` runs after the displayed target has changed.
      const before = beforeOf(it, body)
      const names = Object.keys(body) as (keyof Target)[]
      const expected = versionFor({ base, it }, (one) => names.map((name) => one[name] ?? null))
      const { version } = await patch(body, expected)
      return { before, version }
    },
    onSuccess: ({ before, version }) => {
      if (before === undefined) say(saved)
      else sayUndoable(saved, async () => await patch(before, version))
    },
  })
}

/** The body that restores the changed fields; undefined if it might need a credential, which can't be read back. */
function beforeOf(it: Target, body: Body): Body | undefined {
  if ('credential' in body) return undefined
  // Moving to a different origin removes the stored credential, so undoing a new URL could need the credential again.
  if (it.credential_header !== undefined && body.upstream !== it.upstream && 'upstream' in body) {
    return undefined
  }
  const names = Object.keys(body) as (keyof Body & keyof Target)[]
  return Object.fromEntries(names.map((name) => [name, it[name] ?? null]))
}
