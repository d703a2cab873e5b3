import { createContext, use } from 'react'
import type { Permission, Role } from '../api/shapes.ts'
import type { Me } from '../api/me.ts'

export type Membership = Me['memberships'][number]

/** The membership of the organization in the address. */
export const MembershipContext = createContext<Membership | undefined>(undefined)

// The server decides; this table only hides what would be refused. It mirrors src/access/permissions.ts.
const admins: readonly Role[] = ['owner', 'admin']
const allowed: Readonly<Record<Permission, readonly Role[]>> = {
  'traffic.see': ['owner', 'admin', 'developer', 'viewer'],
  'keys.issue': ['owner', 'admin', 'developer'],
  'keys.manage': admins,
  'deliveries.replay': ['owner', 'admin', 'developer'],
  'targets.manage': admins,
  'webhooks.manage': admins,
  'members.manage': admins,
  'audit.see': admins,
  'organization.manage': admins,
  'sso.manage': admins,
  'owners.manage': ['owner'],
  'organization.delete': ['owner'],
}

/** Whether a role includes a permission. */
export function may(role: Role, permission: Permission): boolean {
  return allowed[permission].includes(role)
}

/** The membership with this slug. */
export function membershipOf(me: Me, slug: string | undefined): Membership | undefined {
  return me.memberships.find((one) => one.organization.slug === slug)
}

/** The organization of this page and what this person may do in it; only for pages below /o/. */
export function useOrganization(): {
  readonly slug: string
  readonly membership: Membership
  readonly may: (permission: Permission) => boolean
} {
  const membership = use(MembershipContext)
  if (membership === undefined) throw new Error('This page belongs to an organization.')
  return {
    slug: membership.organization.slug,
    membership,
    may: (permission) => may(membership.role, permission),
  }
}
