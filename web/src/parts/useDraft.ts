import { useState } from 'react'

/**
 * Until a person edits the form, its values come from the newest record. `base` is the record on which the edit is
 * based.
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
    /** Discards the edit, so that the form shows the newest record again. */
    forget: () => edit(undefined),
  }
}

/**
 * Returns the version to send with an edit of some parts of a record: usually the newest version. If somebody else has
 * changed the same parts since the form showed them, it is the version that the form showed, so that the server refuses
 * the edit instead of undoing that change.
 */
export function versionFor<R extends { readonly version: number }>(
  { base, it }: { readonly base: R; readonly it: R },
  partsOf: (one: R) => unknown,
): number {
  const isSame = JSON.stringify(partsOf(base)) === JSON.stringify(partsOf(it))
  return isSame ? it.version : base.version
}
