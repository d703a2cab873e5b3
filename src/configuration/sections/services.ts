import { Keys } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import { openDirectoryGroups, type DirectoryGroups } from '../../directory/index.ts'
import type { AddressGuard, Outbound, ResolveTxt } from '../../http/index.ts'
import type { RelyingParty } from '../../oidc/index.ts'
import { Organizations } from '../../organizations/index.ts'
import type { Sealer } from '../../secrets/index.ts'
import { Connections, Domains } from '../../sso/index.ts'
import type { Store } from '../../store/index.ts'
import { createTargets, type Targets, type TargetSettings } from '../../targets/index.ts'
import type { Log } from '../../telemetry/index.ts'
import { createWebhooks, type Webhooks } from '../../webhooks/index.ts'

export interface ConfigurationDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly log: Log
  readonly guard: AddressGuard
  readonly outbound: Outbound
  readonly relyingParty: RelyingParty
  readonly resolveTxt: ResolveTxt
  readonly authUrl: string
  readonly allowLoopback: boolean
  /** The settings that a target has if the file gives none. */
  readonly defaults: TargetSettings
  readonly maxEndpoints: number | undefined
}

/** The services that a file's sections use. */
export interface ConfigurationServices {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly defaults: TargetSettings
  readonly organizations: Organizations
  readonly targets: Targets
  readonly endpoints: Webhooks['endpoints']
  readonly connections: Connections
  readonly domains: Domains
  readonly groups: DirectoryGroups
  readonly keys: Keys
}

/** Creates the services over a store, which may be an open transaction. */
export function openServices(deps: ConfigurationDeps): ConfigurationServices {
  const { store, sealer, clock, defaults } = deps
  return {
    ...{ store, sealer, clock, defaults },
    organizations: new Organizations(deps),
    targets: createTargets(deps),
    endpoints: createWebhooks(deps).endpoints,
    connections: new Connections(deps),
    domains: new Domains(deps),
    groups: openDirectoryGroups(store),
    keys: new Keys(deps),
  }
}
