import type { Me } from '../api/me.ts'
import type { Membership } from './membership.ts'

const storageName = 'last-organization'

/** The organization last open in this browser, otherwise the first one. */
export function lastOrganization(me: Me): Membership | undefined {
  let slug: string | null = null
  try {
    slug = localStorage.getItem(storageName)
  } catch {
    // Storage is unavailable, so the first one is used.
  }
  return me.organizations.find((one) => one.slug === slug) ?? me.organizations[0]
}

/** Remembers the open organization. */
export function rememberOrganization(slug: string): void {
  try {
    localStorage.setItem(storageName, slug)
  } catch {
    // Storage is unavailable, so the next visit starts with the first one.
  }
}
