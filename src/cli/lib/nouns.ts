import type { AccessTokens, Keys } from '../../access/index.ts'
import type { Audit } from '../../audit/index.ts'
import type { Organizations } from '../../organizations/index.ts'
import type { OrganizationId } from '../../ids.ts'
import type { Targets } from '../../targets/index.ts'
import type { remoteAudit } from '../remote/audit.ts'
import type { remoteKeys } from '../remote/keys.ts'
import type { remoteOrganizations } from '../remote/organizations.ts'
import type { remoteTargets } from '../remote/targets.ts'
import type { remoteTokens } from '../remote/tokens.ts'
import type { CallList, CallQuery } from './call-query.ts'
import type { Services } from './services.ts'

// The functions that open operations, on the database or over the API, import modules only when needed, so that no
// command has to load the whole product.

type Both<Whole, Remote extends (...args: never[]) => unknown> = Pick<
  Whole,
  keyof Whole & keyof ReturnType<Remote>
>

export async function organizationsOf(
  services: Services,
): Promise<Both<Organizations, typeof remoteOrganizations>> {
  const { remote } = services
  if (remote !== undefined) {
    return (await import('../remote/organizations.ts')).remoteOrganizations(remote)
  }
  return new (await import('../../organizations/index.ts')).Organizations(services)
}

export async function keysOf(services: Services): Promise<Both<Keys, typeof remoteKeys>> {
  const { remote } = services
  if (remote !== undefined) return (await import('../remote/keys.ts')).remoteKeys(remote)
  const { Keys } = await import('../../access/index.ts')
  return new Keys(services)
}

export async function tokensOf(
  services: Services,
): Promise<Both<AccessTokens, typeof remoteTokens>> {
  const { remote } = services
  if (remote !== undefined) return (await import('../remote/tokens.ts')).remoteTokens(remote)
  const { AccessTokens } = await import('../../access/index.ts')
  return new AccessTokens(services)
}

export async function targetsOf(services: Services): Promise<Both<Targets, typeof remoteTargets>> {
  const { remote, config } = services
  if (remote !== undefined) return (await import('../remote/targets.ts')).remoteTargets(remote)
  const { createAddressGuard } = await import('../../http/outbound/index.ts')
  const { createTargets, defaultSettings } = await import('../../targets/index.ts')
  return createTargets({
    ...services,
    guard: createAddressGuard({
      allowCidrs: config.outboundAllowCidrs,
      allowLoopback: config.loopbackIsOpen,
    }),
    defaults: defaultSettings(config.limits.bodyBytes, config.callRecords),
  })
}

export async function auditOf(services: Services): Promise<Both<Audit, typeof remoteAudit>> {
  const { remote } = services
  if (remote !== undefined) return (await import('../remote/audit.ts')).remoteAudit(remote)
  return (await import('../../audit/index.ts')).createAudit(services)
}

export async function callsOf(
  services: Services,
  organizationId: OrganizationId,
  query: CallQuery,
): Promise<CallList> {
  const { remote } = services
  if (remote !== undefined) {
    return await (await import('../remote/calls.ts')).remoteCalls(remote, organizationId, query)
  }
  return await (await import('./call-list.ts')).openCallList(services, organizationId, query)
}

/**
 * Returns the base URL of the server: the one that the command works on over the API, otherwise the setting BASE_URL.
 */
export function baseUrlOf({ remote, config }: Services): string {
  return remote?.server ?? config.baseUrl
}
