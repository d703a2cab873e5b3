import { Navigate } from '@tanstack/react-router'
import { usePerson } from '../../frame/membership.ts'

const storageName = 'last-organization'

/** The door of the dashboard: the organization of last time, the only one, or the choice. */
export function Home() {
  const me = usePerson()
  const last = readLast()
  const one =
    me.organizations.find((organization) => organization.slug === last) ?? me.organizations[0]
  if (one === undefined || me.invitations.length > 0) return <Navigate to="/welcome" replace />
  return <Navigate to="/o/$organization" params={{ organization: one.slug }} replace />
}

function readLast(): string | null {
  try {
    return localStorage.getItem(storageName)
  } catch {
    return null
  }
}
