import { Navigate } from '@tanstack/react-router'
import { lastOrganization } from '../../frame/last-organization.ts'
import { usePerson } from '../../frame/membership.ts'

/**
 * Opens the organization that was last open, or else the first one. Somebody with no organization or with an open
 * invitation is sent to the welcome page.
 */
export function Home() {
  const me = usePerson()
  const one = lastOrganization(me)
  if (one === undefined || me.invitations.length > 0) return <Navigate to="/welcome" replace />
  return <Navigate to="/o/$organization" params={{ organization: one.slug }} replace />
}
