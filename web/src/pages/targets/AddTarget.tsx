import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addTarget } from '../../api/targets.ts'
import { targetsWords as w } from '../../../words/en/targets.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { TextField } from '../../parts/Field.tsx'
import { fieldError } from '../../parts/States.tsx'

/** Asks for a slug and a URL, which is all that a target needs. */
export function AddTarget({
  organization,
  onClose,
  onAdded,
}: {
  readonly organization: string
  readonly onClose: () => void
  readonly onAdded: (slug: string) => void
}) {
  const client = useQueryClient()
  const [slug, setSlug] = useState('')
  const [upstream, setUpstream] = useState('')
  const add = useMutation({
    mutationFn: () => addTarget(organization, { slug: slug.trim(), upstream: upstream.trim() }),
    onSuccess: (target) => {
      void client.invalidateQueries({ queryKey: [organization] })
      onAdded(target.slug)
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title={w.form.title}
      action={w.add}
      saving={add}
      disabled={slug.trim() === '' || upstream.trim() === ''}
      onSubmit={() => add.mutate()}
    >
      <TextField
        label={w.form.upstream}
        hint={w.form.upstreamHint}
        error={fieldError(add.error, 'upstream')}
        code
        inputMode="url"
        value={upstream}
        onValue={setUpstream}
      />
      <TextField
        label={w.form.slug}
        hint={w.form.slugHint}
        error={fieldError(add.error, 'slug')}
        code
        maxLength={63}
        value={slug}
        onValue={setSlug}
      />
      <p className="muted break">
        {w.form.address}:{' '}
        <code>{`${window.location.origin}/api/v1/intercept/${slug === '' ? '…' : slug}/`}</code>
      </p>
    </FormDialog>
  )
}
