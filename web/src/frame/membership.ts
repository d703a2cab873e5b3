import { createContext, use } from 'react'
import type { Permission } from '../api/shapes.ts'
import type { Me } from '../api/me.ts'

/** One organization of the person, with the role and what it allows. */
export type Membership = Me['organizations'][number]

/** The organization in the address, and who looks at it. */
export const MembershipContext = createContext<
  { readonly me: Me; readonly membership: Membership | undefined } | undefined
>(undefined)

/** Whether the role includes a permission. The server decides; this only hides what it would refuse. */
export function may(membership: Membership, permission: Permission): boolean {
  return membership.permissions.includes(permission)
}

/** The membership with this slug. */
export function membershipOf(me: Me, slug: string | undefined): Membership | undefined {
  return me.organizations.find((one) => one.slug === slug)
}

/** Who is signed in; only for pages inside the frame. */
export function usePerson(): Me {
  const here = use(MembershipContext)
  if (here === undefined) throw new Error('This page belongs to somebody.')
  return here.me
}

/** The organization of this page and what this person may do in it; only for pages below /o/. */
export function useOrganization(): {
  readonly slug: string
  readonly membership: Membership
  readonly may: (permission: Permission) => boolean
} {
  const membership = use(MembershipContext)?.membership
  if (membership === undefined) throw new Error('This page belongs to an organization.')
  return { slug: membership.slug, membership, may: (permission) => may(membership, permission) }
}
