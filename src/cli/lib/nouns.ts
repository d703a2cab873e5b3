import { createAccessTokens, createKeys, type AccessTokens, type Keys } from '../../access/index.ts'
import { createAudit, type Audit } from '../../audit/index.ts'
import { createAddressGuard } from '../../http/index.ts'
import { createOrganizations, type Organizations } from '../../organizations/index.ts'
import { createTargets, defaultSettings, type Targets } from '../../targets/index.ts'
import {
  remoteAudit,
  remoteKeys,
  remoteOrganizations,
  remoteTargets,
  remoteTokens,
} from '../remote/index.ts'
import type { Services } from './services.ts'

type Both<Whole, Remote extends (...args: never[]) => unknown> = Pick<
  Whole,
  keyof Whole & keyof ReturnType<Remote>
>

/** Organizations, on the database or over the API. */
export function organizationsOf(
  services: Services,
): Both<Organizations, typeof remoteOrganizations> {
  const { remote } = services
  return remote === undefined ? createOrganizations(services) : remoteOrganizations(remote)
}

/** Keys, on the database or over the API. */
export function keysOf(services: Services): Both<Keys, typeof remoteKeys> {
  const { remote } = services
  return remote === undefined ? createKeys(services) : remoteKeys(remote)
}

/** Access tokens, on the database or over the API. */
export function tokensOf(services: Services): Both<AccessTokens, typeof remoteTokens> {
  const { remote } = services
  return remote === undefined ? createAccessTokens(services) : remoteTokens(remote)
}

/** Targets, on the database or over the API. */
export function targetsOf(services: Services): Both<Targets, typeof remoteTargets> {
  const { remote, config } = services
  if (remote !== undefined) return remoteTargets(remote)
  return createTargets({
    ...services,
    guard: createAddressGuard({
      allowCidrs: config.outboundAllowCidrs,
      allowLoopback: config.loopbackIsOpen,
    }),
    defaults: defaultSettings(config.limits.bodyBytes, config.callRecords),
  })
}

/** The audit log, on the database or over the API. */
export function auditOf(services: Services): Both<Audit, typeof remoteAudit> {
  const { remote } = services
  return remote === undefined ? createAudit(services) : remoteAudit(remote)
}

/** Where the guarded area is. */
export function baseUrlOf({ remote, config }: Services): string {
  return remote?.server ?? config.baseUrl
}
