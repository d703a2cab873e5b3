import { useState } from 'react'

/**
 * The values of a form: those of the newest record until somebody changes one, and from then on theirs. `base` is the
 * record that the form showed when they began.
 */
export function useDraft<R, D extends object>(it: R, draftOf: (it: R) => D) {
  const [edited, edit] = useState<{ readonly base: R; readonly draft: D }>()
  const { base, draft } = edited ?? { base: it, draft: draftOf(it) }
  return {
    base,
    draft,
    patch: (patch: Partial<D>) =>
      edit((before) => {
        const now = before ?? { base: it, draft: draftOf(it) }
        return { base: now.base, draft: { ...now.draft, ...patch } }
      }),
    /** Shows the newest record again. */
    forget: () => edit(undefined),
  }
}

/**
 * The version that an edit of some parts of a record expects: the newest one, unless somebody else has changed the same
 * parts since the form showed them. The edit is then refused instead of taking their change back.
 */
export function versionFor<R extends { readonly version: number }>(
  { base, it }: { readonly base: R; readonly it: R },
  partsOf: (one: R) => unknown,
): number {
  const isSame = JSON.stringify(partsOf(base)) === JSON.stringify(partsOf(it))
  return isSame ? it.version : base.version
}
