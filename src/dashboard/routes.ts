import { attentionRoutes } from './attention.ts'
import { auditRoutes } from './audit.ts'
import { callExportRoutes } from './call-export.ts'
import { callRoutes } from './calls.ts'
import { connectionRoutes } from './connections.ts'
import { credentialRoutes } from './credentials.ts'
import { directoryRoutes } from './directory.ts'
import { domainRoutes } from './domains.ts'
import { invitationRoutes } from './invitations.ts'
import { keyRoutes } from './keys.ts'
import { liveRoutes } from './live.ts'
import { meRoutes } from './me.ts'
import { memberRoutes } from './members.ts'
import { organizationRoutes } from './organizations.ts'
import { operationRoutes } from './operations.ts'
import type { RoutesOf } from './route.ts'
import { setupRoutes } from './setup.ts'
import { targetRoutes } from './targets.ts'
import { ssoRoutes } from './sso.ts'
import { deliveryRoutes } from './webhook-deliveries.ts'
import { webhookRoutes } from './webhooks.ts'

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
  ...directoryRoutes,
  ...ssoRoutes,
  ...targetRoutes,
  ...liveRoutes,
  ...callRoutes,
  ...callExportRoutes,
  ...attentionRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...operationRoutes,
  ...credentialRoutes,
}

/** What the browser's typed client knows of them. */
export type Routes = RoutesOf<typeof routes>
