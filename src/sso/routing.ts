import { Problem } from '../errors.ts'
import { organizations, type Store } from '../store/index.ts'
import type { Connection, Connections } from './connections.ts'
import type { Domains } from './domains.ts'

/** Finds the connection through which somebody signs in. */
export interface SsoRouting {
  /**
   * Finds a connection by an e-mail address of a verified domain, or by an organization's slug. Throws
   * `sso_not_available`, or `sso_connection_disabled` if the connection is off.
   */
  find(by: { email: string } | { organization: string }): Promise<Connection>
  /** Returns a connection; throws unless it is enabled and its organization has the plan. */
  open(id: string): Promise<Connection>
}

export function createSsoRouting(deps: {
  store: Store
  connections: Connections
  domains: Domains
}): SsoRouting {
  const { store, connections, domains } = deps

  async function find(by: { email: string } | { organization: string }): Promise<Connection> {
    const wanted = 'email' in by ? await byAddress(by.email) : await bySlug(by.organization)
    if (!wanted) throw unavailable()
    const owner = await organizations.find(store, wanted.organizationId)
    if (owner?.plan !== 'enterprise') throw unavailable()
    const all = await connections.list(owner.id)
    const on = all.filter(({ disabledAt }) => disabledAt === undefined)
    const named = on.find(({ id }) => id === wanted.connectionId)
    // If the connection of the domain is off, the default one must not take its place.
    if (wanted.connectionId !== undefined && named === undefined) throw off()
    const found = named ?? on.find(({ isDefault }) => isDefault) ?? on.at(0)
    if (!found) throw all.length === 0 ? unavailable() : off()
    return found
  }

  async function byAddress(email: string) {
    const domain = await domains.ofAddress(email)
    return domain && { organizationId: domain.organizationId, connectionId: domain.connectionId }
  }

  async function bySlug(slug: string) {
    const found = await organizations.findBySlug(store, slug)
    return found && { organizationId: found.id, connectionId: undefined }
  }

  return {
    find,
    async open(id) {
      const connection = await connections.findForSignIn(id)
      if (!connection) throw unavailable()
      const owner = await organizations.find(store, connection.organizationId)
      if (owner?.plan !== 'enterprise') throw unavailable()
      if (connection.disabledAt !== undefined) throw off()
      return connection
    },
  }
}

function unavailable(): Problem {
  return new Problem(
    'sso_not_available',
    'There is no company sign-in for this address or organization.',
  )
}

function off(): Problem {
  return new Problem(
    'sso_connection_disabled',
    'The connection to the identity provider is switched off.',
  )
}
