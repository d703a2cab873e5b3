import { useMutation, useQueryClient } from '@tanstack/react-query'
import { managedWords as w } from '../../words/en/managed.ts'
import { takeOver, type Managed as ManagedThing } from '../api/managed.ts'
import { ConfirmDialog } from '../parts/ConfirmDialog.tsx'
import { say } from '../parts/Toasts.tsx'
import { useOrganization } from './membership.ts'

export function TakeOver({
  by,
  name,
  onClose,
}: {
  readonly by: ManagedThing
  readonly name: string
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const taking = useMutation({
    mutationFn: () => takeOver(slug, { section: by.section, id: by.subject_id ?? by.name }),
    onSuccess: async () => {
      say(w.taken(by.label))
      onClose()
      await client.invalidateQueries({ queryKey: [slug] })
    },
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={w.takeOverTitle(name)}
      action={w.takeOver}
      saving={taking}
      onConfirm={() => taking.mutate()}
    >
      <p>{w.takeOverText(by.label)}</p>
    </ConfirmDialog>
  )
}
