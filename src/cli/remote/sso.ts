import { Problem } from '../../errors.ts'
import type { Connection, Sso } from '../../sso/index.ts'
import type { DomainRecord } from '../../store/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { msOf } from './values.ts'

type ConnectionJson = Readonly<Record<string, unknown>>

interface DomainJson {
  readonly [name: string]: unknown
  readonly record: { readonly value: string }
}

export function remoteSso(remote: Remote) {
  return { connections: remoteConnections(remote), domains: remoteDomains(remote) }
}

function remoteConnections(remote: Remote) {
  const at = (organizationId: string): string =>
    `/organizations/${part(organizationId)}/connections`
  return {
    async list(organizationId) {
      const { items } = await remote.call<{ items: ConnectionJson[] }>(`GET ${at(organizationId)}`)
      return items.map(toConnection)
    },
    async connect(organizationId, { issuer, clientId, name, credential, makeDefault }) {
      const body = {
        ...{ issuer, name, client_id: clientId },
        ...(credential.kind === 'secret'
          ? { client_secret: credential.secret }
          : { private_key: true }),
      }
      const made = toConnection(await remote.call(`POST ${at(organizationId)}`, body))
      if (makeDefault !== true || made.isDefault) return made
      return toConnection(
        await remote.call(`POST ${at(organizationId)}/${part(made.id)}/default`, {}),
      )
    },
  } satisfies Partial<Sso['connections']>
}

function remoteDomains(remote: Remote) {
  const at = (organizationId: string, name?: string): string =>
    `/organizations/${part(organizationId)}/domains${name === undefined ? '' : `/${part(name)}`}`
  return {
    async list(organizationId) {
      const { items } = await remote.call<{ items: DomainJson[] }>(`GET ${at(organizationId)}`)
      return items.map(toDomain)
    },
    add: async (organizationId, { name, connectionId }) =>
      toDomain(
        await remote.call(`POST ${at(organizationId)}`, { name, connection_id: connectionId }),
      ),
    route: async (organizationId, name, { connectionId }) =>
      toDomain(
        await remote.call(`PATCH ${at(organizationId, name)}`, {
          connection_id: connectionId ?? null,
        }),
      ),
    check: async (organizationId, name) =>
      toDomain(await remote.call(`POST ${at(organizationId, name)}/check`, {})),
    override: async () => {
      throw new Problem(
        'person_required',
        'Only whoever can reach the database may vouch for a domain: run it there, without --server.',
      )
    },
  } satisfies Partial<Sso['domains']>
}

function toConnection(json: ConnectionJson): Connection {
  return {
    id: json['id'],
    name: json['name'],
    kind: json['kind'],
    issuer: json['issuer'],
    clientId: json['client_id'],
    credentialKind: json['credential'],
    redirectUri: json['redirect_uri'],
    initiateLoginUri: json['initiate_login_uri'],
    backchannelLogoutUri: json['backchannel_logout_uri'],
    clientKeysUri: json['client_keys_uri'],
    isDefault: json['is_default'],
    disabledAt: msOf(json['disabled_at']),
    createdAt: msOf(json['created_at']),
  } as unknown as Connection
}

function toDomain(json: DomainJson): DomainRecord {
  return {
    id: json['id'],
    name: json['name'],
    challenge: json.record.value,
    verifiedAt: msOf(json['verified_at']),
    verifiedBy: json['verified_by'] ?? undefined,
    lostAt: msOf(json['lost_at']),
    connectionId: json['connection_id'] ?? undefined,
    seen: json['seen'] ?? undefined,
  } as unknown as DomainRecord
}
