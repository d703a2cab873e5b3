import type { Clock } from '../clock.ts'
import type { ResolveTxt } from '../http/index.ts'
import type { RelyingParty } from '../oidc/index.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store } from '../store/index.ts'
import { createCompanySignIn, type CompanySignIn, type DirectoryPeople } from './admission.ts'
import { createConnectionTests, type ConnectionTests } from './connection-tests.ts'
import { createConnections, type Connections } from './connections.ts'
import { createDomains, type Domains } from './domains.ts'
import { createProviderLogout, type ProviderLogout } from './provider-logout.ts'
import { createSsoOutcomes, type SsoOutcomes } from './outcomes.ts'
import { createSsoPolicies, type SsoPolicies } from './policy.ts'
import { createSsoRouting, type SsoRouting } from './routing.ts'

/** Everything about an organization's own identity provider. */
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

/** Opens the rules of single sign-on. */
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
  const connections = createConnections(deps)
  const domains = createDomains(deps)
  const logout = createProviderLogout({ ...deps, connections })
  return {
    connections,
    domains,
    routing: createSsoRouting({ store, connections, domains }),
    signIn: createCompanySignIn({ store, directory }),
    tests: createConnectionTests({ store, now: () => clock.now() }),
    policies: createSsoPolicies({ store, directory }),
    outcomes: createSsoOutcomes({ store, clock, logout }),
    logout,
  }
}
