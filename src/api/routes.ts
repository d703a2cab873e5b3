import { accessTokenRoutes } from './routes/access-tokens.ts'
import { attentionRoutes } from './routes/attention.ts'
import { auditRoutes } from './routes/audit.ts'
import { configurationRoutes } from './routes/configuration.ts'
import { callExportRoutes } from './routes/calls/export.ts'
import { callRoutes } from './routes/calls/calls.ts'
import { connectionRoutes } from './routes/sso/connections.ts'
import { credentialRoutes } from './routes/credentials.ts'
import { directoryRoutes } from './routes/directory.ts'
import { domainRoutes } from './routes/sso/domains.ts'
import { invitationRoutes } from './routes/invitations.ts'
import { keyRoutes } from './routes/keys.ts'
import { limitRoutes } from './routes/limits.ts'
import { liveRoutes } from './routes/calls/live.ts'
import { meRoutes } from './routes/me.ts'
import { operatorRoutes } from './routes/operator.ts'
import { memberRoutes } from './routes/members.ts'
import { organizationRoutes } from './routes/organizations.ts'
import { operationRoutes } from './routes/webhooks/operations.ts'
import type { RoutesOf } from './core/route.ts'
import { quotaRoutes } from './routes/quotas.ts'
import { setupRoutes } from './routes/setup.ts'
import { signInRoutes } from './routes/sign-ins.ts'
import { rulePreviewRoutes } from './routes/rule-preview.ts'
import { targetRoutes } from './routes/targets.ts'
import { targetTrafficRoutes } from './routes/calls/target-traffic.ts'
import { ssoRoutes } from './routes/sso/sso.ts'
import { deliveryRoutes } from './routes/webhooks/deliveries.ts'
import { endpointFigureRoutes } from './routes/webhooks/endpoint-figures.ts'
import { webhookRoutes } from './routes/webhooks/webhooks.ts'

/** Every route of the JSON API, below /api/v1. */
export const routes = {
  ...setupRoutes,
  ...meRoutes,
  ...organizationRoutes,
  ...operatorRoutes,
  ...memberRoutes,
  ...signInRoutes,
  ...invitationRoutes,
  ...keyRoutes,
  ...quotaRoutes,
  ...connectionRoutes,
  ...domainRoutes,
  ...directoryRoutes,
  ...ssoRoutes,
  ...targetRoutes,
  ...rulePreviewRoutes,
  ...limitRoutes,
  ...liveRoutes,
  ...callRoutes,
  ...targetTrafficRoutes,
  ...callExportRoutes,
  ...configurationRoutes,
  ...accessTokenRoutes,
  ...attentionRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...endpointFigureRoutes,
  ...deliveryRoutes,
  ...operationRoutes,
  ...credentialRoutes,
}

/** The types from which the dashboard's client is derived. */
export type Routes = RoutesOf<typeof routes>
