import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { words } from '../../../words/en.ts'
import { directoryWords } from '../../../words/en/directory.ts'
import {
  previewRole,
  setGroupRole,
  type DirectoryGroup,
  type GroupRole,
} from '../../api/directory.ts'
import { useOrganization } from '../../frame/membership.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { say } from '../../parts/Toasts.tsx'
import classes from './sso.module.css'

const w = directoryWords.roles
const namesShown = 12

export function RolePreview({
  group,
  role,
  onClose,
}: {
  readonly group: DirectoryGroup
  readonly role: GroupRole | undefined
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const preview = useQuery({
    queryKey: [slug, 'directory', 'preview', group.id, role ?? ''],
    staleTime: 0,
    gcTime: 0,
    queryFn: () => previewRole(slug, group.id, role),
  })
  const saving = useMutation({
    mutationFn: () => setGroupRole(slug, group.id, role),
    onSuccess: (done) => {
      say(w.done(done.changed))
      void client.invalidateQueries({ queryKey: [slug, 'directory'] })
      onClose()
    },
  })
  const people = preview.data?.items
  return (
    <FormDialog
      onClose={onClose}
      title={w.previewTitle(group.name)}
      action={w.action}
      saving={saving}
      disabled={people === undefined}
      onSubmit={() => saving.mutate()}
    >
      {preview.isError ? (
        <ProblemNotice error={preview.error} retry={() => void preview.refetch()} />
      ) : people === undefined ? (
        <Loading />
      ) : (
        <People people={people} />
      )}
    </FormDialog>
  )
}

type Changed = Awaited<ReturnType<typeof previewRole>>['items']

function People({ people }: { readonly people: Changed }) {
  return (
    <div className="stack-tight" role="status">
      <p>{w.preview(people.length)}</p>
      <ul className={classes.lines}>
        {people.slice(0, namesShown).map((one) => (
          <li key={one.membership_id}>
            <span />
            <div>
              <strong>{one.name}</strong>{' '}
              <span className="muted">{w.change(roleName(one.before), roleName(one.after))}</span>
            </div>
          </li>
        ))}
      </ul>
      {people.length > namesShown ? (
        <p className="muted">{w.andMore(people.length - namesShown)}</p>
      ) : undefined}
      {people.length > 0 ? <p className="muted">{w.sessions}</p> : undefined}
    </div>
  )
}

function roleName(name: string): string {
  return (words.roles as Readonly<Record<string, string>>)[name] ?? name
}
