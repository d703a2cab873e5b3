import type { Me } from '../api/me.ts'
import type { Membership } from './membership.ts'

const storageName = 'last-organization'

/** The organization last open in this browser, or else the person's first; undefined if the person has none. */
export function lastOrganization(me: Me): Membership | undefined {
  let slug: string | null = null
  try {
    slug = localStorage.getItem(storageName)
  } catch {
    // Storage is unavailable, so the person's first organization is used.
  }
  return me.organizations.find((one) => one.slug === slug) ?? me.organizations[0]
}

/** Remembers in this browser which organization is open, for the next visit. */
export function rememberOrganization(slug: string): void {
  try {
    localStorage.setItem(storageName, slug)
  } catch {
    // Storage is unavailable, so the next visit starts with the person's first organization.
  }
}
