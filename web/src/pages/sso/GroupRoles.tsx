import { useMutation, useQueryClient } from '@tanstack/react-query'
import { words } from '../../../words/en.ts'
import { directoryWords } from '../../../words/en/directory.ts'
import type { GroupRole } from '../../api/directory.ts'
import { changeConnection, type Connection } from '../../api/sso.ts'
import { LockedWhile, ManagedNotice, useManaged } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { LeaveGuard } from '../../parts/LeaveGuard.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { useDraft, versionFor } from '../../parts/useDraft.ts'
import { groupRoles } from './group-roles.ts'
import classes from './sso.module.css'

const w = directoryWords.roles

interface Row {
  readonly key: number
  readonly group: string
  readonly role: GroupRole
}

/** Maps the groups sent with each sign-in to roles, for organizations without a directory. */
export function GroupRoles({ connection }: { readonly connection: Connection }) {
  const { slug } = useOrganization()
  const managed = useManaged('connections', connection.id)
  const client = useQueryClient()
  const { base, draft, patch, forget } = useDraft(connection, draftOf)
  const { rows } = draft
  const setRows = (next: readonly Row[]) => patch({ rows: next })
  const named = rows
    .map(({ group, role }) => ({ group: group.trim(), role }))
    .filter(({ group }) => group !== '')
  const changed = JSON.stringify(named) !== JSON.stringify(connection.group_roles)
  const saving = useMutation({
    mutationFn: async () => {
      const version = versionFor({ base, it: connection }, (one) => one.group_roles)
      await changeConnection(slug, { id: connection.id, version }, { group_roles: named })
      say(w.saved)
      await client.invalidateQueries({ queryKey: [slug, 'sso', 'connections'] })
      forget()
    },
  })
  function add() {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    setRows([...rows, { key, group: '', role: 'viewer' }])
  }
  return (
    <Card title={`${w.sign}: ${connection.name}`} lead={w.signLead}>
      <div className="stack">
        <LeaveGuard isDirty={() => changed} />
        <ManagedNotice by={managed} />
        <LockedWhile by={managed}>
          <RoleRows rows={rows} onRows={setRows} />
          {saving.error === null ? undefined : <ProblemNotice error={saving.error} />}
          <div className="row">
            <Button onClick={add}>{w.add}</Button>
            {changed ? (
              <Button look="primary" busy={saving.isPending} onClick={() => saving.mutate()}>
                {w.save}
              </Button>
            ) : undefined}
          </div>
        </LockedWhile>
      </div>
    </Card>
  )
}

function draftOf(connection: Connection): { readonly rows: readonly Row[] } {
  return { rows: connection.group_roles.map(({ group, role }, key) => ({ key, group, role })) }
}

function RoleRows({
  rows,
  onRows,
}: {
  readonly rows: readonly Row[]
  readonly onRows: (rows: readonly Row[]) => void
}) {
  function set(key: number, patch: Partial<Row>) {
    onRows(rows.map((row) => (row.key === key ? { ...row, ...patch } : row)))
  }
  return rows.map((row) => (
    <div key={row.key} className={classes.role}>
      <TextField
        label={w.group}
        code
        maxLength={200}
        value={row.group}
        onValue={(group) => set(row.key, { group })}
      />
      <SelectField
        label={w.role}
        value={row.role}
        options={groupRoles.map((role) => ({ value: role, label: words.roles[role] }))}
        onValue={(value) =>
          set(row.key, { role: groupRoles.find((role) => role === value) ?? 'viewer' })
        }
      />
      <Button look="quiet" onClick={() => onRows(rows.filter((one) => one.key !== row.key))}>
        {w.remove}
      </Button>
    </div>
  ))
}
