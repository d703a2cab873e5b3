import type { Me } from '../api/me.ts'
import type { Membership } from './membership.ts'

const storageName = 'last-organization'

/** The organization that was open last in this browser, else the first. */
export function lastOrganization(me: Me): Membership | undefined {
  let slug: string | null = null
  try {
    slug = localStorage.getItem(storageName)
  } catch {
    // Storage is closed: the first it is.
  }
  return me.organizations.find((one) => one.slug === slug) ?? me.organizations[0]
}

/** Remembers which organization was open. */
export function rememberOrganization(slug: string): void {
  try {
    localStorage.setItem(storageName, slug)
  } catch {
    // Storage is closed: next time begins with the first.
  }
}
