import { Navigate } from '@tanstack/react-router'
import { lastOrganization } from '../../frame/last-organization.ts'
import { usePerson } from '../../frame/membership.ts'

export function Home() {
  const me = usePerson()
  const one = lastOrganization(me)
  if (one === undefined || me.invitations.length > 0) return <Navigate to="/welcome" replace />
  return <Navigate to="/o/$organization" params={{ organization: one.slug }} replace />
}
