import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/call.ts'
import type { Member, Role } from '../../api/shapes.ts'
import { words } from '../../../words/en.ts'
import { membersWords } from '../../../words/en/members.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { LeaveGuard } from '../../parts/LeaveGuard.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import classes from '../../parts/surface.module.css'
import { sayUndoable } from '../../parts/Toasts.tsx'
import { RoleChoice } from './RoleChoice.tsx'

const w = membersWords.member

/** A change of role ends those of the member's sessions that reach the organization. */
export function MemberRole({
  organization,
  it,
  self,
}: {
  readonly organization: string
  readonly it: Member
  readonly self: boolean
}) {
  const client = useQueryClient()
  const { may } = useOrganization()
  const allowed = it.role !== 'owner' || may('owners.manage')
  const [role, setRole] = useState<Role>(it.role)
  const give = async (next: Role, version: number) => {
    const input = { path: { organization, member: it.id }, body: { role: next } }
    const route = 'PATCH /organizations/:organization/members/:member'
    const after = await call(route, input, { version })
    setRole(after.role)
    void client.invalidateQueries({ queryKey: [organization, 'members'] })
    return after
  }
  const change = useMutation({
    mutationFn: async () => ({ before: it.role, after: await give(role, it.version) }),
    onSuccess: ({ before, after }) =>
      sayUndoable(w.roleChanged, async () => await give(before, after.version)),
  })
  // The role that was just saved may be newer than the one last read.
  const given = change.data?.after
  const saved = given !== undefined && given.version > it.version ? given.role : it.role
  function submit(event: FormEvent) {
    event.preventDefault()
    change.mutate()
  }
  return (
    <Card title={w.role} lead={!allowed ? w.ownersOnly : self ? w.ownRole : w.roleHint}>
      <form className="stack" onSubmit={submit}>
        <LeaveGuard isDirty={() => role !== saved} />
        <fieldset className={classes.bare} disabled={!allowed}>
          <RoleChoice
            label={membersWords.role}
            value={role}
            owners={may('owners.manage') || it.role === 'owner'}
            shown={words.roles}
            onValue={setRole}
          />
        </fieldset>
        {change.isError ? <ProblemNotice error={change.error} /> : undefined}
        {allowed ? (
          <div>
            <Button type="submit" busy={change.isPending} disabled={role === it.role}>
              {w.saveRole}
            </Button>
          </div>
        ) : undefined}
      </form>
    </Card>
  )
}
