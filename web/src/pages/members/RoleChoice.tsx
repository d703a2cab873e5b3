import { useId } from 'react'
import { roles } from '../../api/choices.ts'
import type { Role } from '../../api/shapes.ts'
import { membersWords as w } from '../../../words/en/members.ts'
import choices from '../../parts/choices.module.css'
import classes from './members.module.css'

const fewestFirst = roles.toReversed()

export function RoleChoice({
  label,
  value,
  owners,
  shown,
  onValue,
}: {
  readonly label: string
  readonly value: Role
  readonly owners: boolean
  readonly shown: Readonly<Record<Role, string>>
  readonly onValue: (role: Role) => void
}) {
  const name = useId()
  return (
    <fieldset className={choices.choices}>
      <legend>{label}</legend>
      {fewestFirst.map((role) =>
        role === 'owner' && !owners ? undefined : (
          <label key={role} className={classes.choice}>
            <input
              type="radio"
              name={name}
              checked={value === role}
              onChange={() => onValue(role)}
            />
            <span>
              {shown[role]} <span className="muted">{w.inviteDialog.roleHints[role]}</span>
            </span>
          </label>
        ),
      )}
    </fieldset>
  )
}
