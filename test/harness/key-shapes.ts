import type { KeyShape } from '../../src/access/key-memory/principal.ts'
import type { OrganizationId } from '../../src/ids.ts'

/** Some organizations whose keys are remembered. */
export const organizations = ['org_a', 'org_b', 'org_c'] as const

/** Returns a shape that differs from others by its organization and text alone. */
export function shapeOf(organizationId: OrganizationId, text: string): KeyShape {
  return {
    ...{ organizationId, text, organizationSlug: text, scheme: 'bearer' },
    ...{ isOldSecret: false, isRevoked: false, organizationRate: undefined },
    ...{ grants: undefined, cidrs: undefined, rateLimit: undefined, quota: undefined },
  }
}
