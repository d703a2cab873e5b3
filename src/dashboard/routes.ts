import { auditRoutes } from './audit.ts'
import { connectionRoutes } from './connections.ts'
import { credentialRoutes } from './credentials.ts'
import { domainRoutes } from './domains.ts'
import { invitationRoutes } from './invitations.ts'
import { keyRoutes } from './keys.ts'
import { meRoutes } from './me.ts'
import { memberRoutes } from './members.ts'
import { organizationRoutes } from './organizations.ts'
import type { RoutesOf } from './route.ts'
import { setupRoutes } from './setup.ts'
import { ssoRoutes } from './sso.ts'

/** Every route of the JSON API, below /api/v1. */
export const routes = {
  ...setupRoutes,
  ...meRoutes,
  ...organizationRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...keyRoutes,
  ...connectionRoutes,
  ...domainRoutes,
  ...ssoRoutes,
  ...auditRoutes,
  ...credentialRoutes,
}

/** What the browser's typed client knows of them. */
export type Routes = RoutesOf<typeof routes>
