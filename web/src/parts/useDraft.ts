import { useState } from 'react'

/**
 * Until a person edits the form, its values come from the newest record. `base` is the record on which the edit is
 * based.
 */
export function useDraft<R, D extends object>(it: R, draftOf: (it: R) => D) {
  const [edited, edit] = useState<{ readonly base: R | undefined; readonly draft: D }>()
  const draft = edited?.draft ?? draftOf(it)
  return {
    base: edited?.base ?? it,
    draft,
    patch: (patch: Partial<D>) =>
      edit((before) => ({
        base: before?.base ?? it,
        draft: { ...(before?.draft ?? draftOf(it)), ...patch },
      })),
    /**
     * Discards this draft, so that the form shows the newest record again. If the person has gone on typing since, for
     * instance while the draft was being saved, the newer draft stays, now based on the newest record.
     */
    forget: () =>
      edit((before) =>
        before === undefined || before.draft === draft
          ? undefined
          : { base: undefined, draft: before.draft },
      ),
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
