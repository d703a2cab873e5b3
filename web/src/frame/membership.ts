import { createContext, use } from 'react'
import type { Permission } from '../api/shapes.ts'
import type { Me } from '../api/me.ts'

export type Membership = Me['organizations'][number]

/** The signed-in person and the organization in the URL; on pages about the person, the organization last open. */
export const MembershipContext = createContext<
  { readonly me: Me; readonly membership: Membership | undefined } | undefined
>(undefined)

/**
 * Whether the person's role has a permission. This decides only what is shown; the server checks every request itself.
 */
export function may(membership: Membership, permission: Permission): boolean {
  return membership.permissions.includes(permission)
}

export function membershipOf(me: Me, slug: string | undefined): Membership | undefined {
  return me.organizations.find((one) => one.slug === slug)
}

/** Throws if no frame surrounds the component. */
export function usePerson(): Me {
  const here = use(MembershipContext)
  if (here === undefined) throw new Error('This page belongs to somebody.')
  return here.me
}

/** Throws if `MembershipContext` has no organization. */
export function useOrganization(): {
  readonly slug: string
  readonly membership: Membership
  readonly may: (permission: Permission) => boolean
} {
  const membership = use(MembershipContext)?.membership
  if (membership === undefined) throw new Error('This page belongs to an organization.')
  return { slug: membership.slug, membership, may: (permission) => may(membership, permission) }
}
