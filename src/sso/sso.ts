import type { Clock } from '../clock.ts'
import type { ResolveTxt } from '../http/index.ts'
import type { RelyingParty } from '../oidc/index.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store } from '../store/index.ts'
import { CompanySignIn, type DirectoryPeople } from './admission.ts'
import { ConnectionTests } from './connection-tests.ts'
import { Connections } from './connections.ts'
import { Domains } from './domains.ts'
import { createProviderLogout, type ProviderLogout } from './provider-logout.ts'
import { SsoOutcomes } from './outcomes.ts'
import { SsoPolicies } from './policy.ts'
import { createSsoRouting, type SsoRouting } from './routing.ts'

/** The services around an organization's own identity provider. */
export interface Sso {
  readonly connections: Connections
  readonly domains: Domains
  readonly routing: SsoRouting
  readonly signIn: CompanySignIn
  readonly tests: ConnectionTests
  readonly policies: SsoPolicies
  readonly outcomes: SsoOutcomes
  readonly logout: ProviderLogout
}

export function createSso(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
  relyingParty: RelyingParty
  resolveTxt: ResolveTxt
  directory: DirectoryPeople
  authUrl: string
  baseUrl: string
  allowLoopback: boolean
}): Sso {
  const { store, clock, directory } = deps
  const connections = new Connections(deps)
  const domains = new Domains(deps)
  const logout = createProviderLogout({ ...deps, connections })
  return {
    connections,
    domains,
    routing: createSsoRouting({ store, connections, domains }),
    signIn: new CompanySignIn({ store, directory }),
    tests: new ConnectionTests({ store, clock }),
    policies: new SsoPolicies({ store, directory }),
    outcomes: new SsoOutcomes({ store, clock, logout }),
    logout,
  }
}
