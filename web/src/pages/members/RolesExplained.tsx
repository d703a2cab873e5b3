import { roles } from '../../api/choices.ts'
import { words } from '../../../words/en.ts'
import { membersWords as w } from '../../../words/en/members.ts'
import { Card } from '../../parts/Surface.tsx'
import classes from './members.module.css'

export function RolesExplained() {
  return (
    <Card title={w.tabs.roles} lead={w.rolesLead}>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={w.tabs.roles}>
        <table className={classes.roles}>
          <thead>
            <tr>
              <th scope="col">{w.may}</th>
              {roles.map((role) => (
                <th key={role} scope="col">
                  {words.roles[role]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {w.permissions.map(([text, allowed], index) => (
              <tr key={text}>
                <th scope="row">{text}</th>
                {roles.map((role) => {
                  const yes = (allowed as readonly string[]).includes(role)
                  return (
                    <td key={role} className={yes ? undefined : 'muted'}>
                      {yes ? (index === 1 && role === 'developer' ? w.developerKeys : w.yes) : w.no}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
