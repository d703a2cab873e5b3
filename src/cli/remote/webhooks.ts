import type {
  DeliveryFilter,
  DeliveryRecord,
  EndpointBooks,
  EndpointRecord,
  OperationRecord,
} from '../../store/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { createSecret, msOf, organizationFor, timeOf } from './values.ts'

interface EndpointJson {
  readonly [name: string]: unknown
  readonly deliveries: Omit<EndpointBooks, 'endpointId'>
}

interface SecretsJson {
  readonly current: { readonly secret: string; readonly hint: string; readonly created_at: string }
  readonly old: readonly { readonly hint: string; readonly valid_until: string }[]
}

type Endpoints = Webhooks['endpoints']
type EndpointInput = Parameters<Endpoints['create']>[1]

export function remoteWebhooks(remote: Remote) {
  const at = (organizationId: string): string => `/organizations/${part(organizationId)}/webhooks`
  const listed = async (organizationId: string): Promise<EndpointJson[]> =>
    (await remote.call<{ items: EndpointJson[] }>(`GET ${at(organizationId)}/endpoints`)).items
  const one = (organizationId: string, id: string): string =>
    `${at(organizationId)}/endpoints/${part(id)}`
  const secretsOf = async (organizationId: string): Promise<SecretsJson> =>
    await remote.call(`GET ${at(organizationId)}/secret`)
  const endpoints = {
    organizationOf: async () => organizationFor(remote),
    list: async (organizationId) => (await listed(organizationId)).map(toEndpoint(organizationId)),
    get: async (organizationId, id) =>
      toEndpoint(organizationId)(await remote.call(`GET ${one(organizationId, id)}`)),
    async create(organizationId, input) {
      const made = await remote.call<EndpointJson>(
        `POST ${at(organizationId)}/endpoints`,
        bodyOf(input),
      )
      return toEndpoint(organizationId)(made)
    },
    remove: async (organizationId, id) => {
      await remote.call(`DELETE ${one(organizationId, id)}`)
    },
    async sendSample(organizationId, id) {
      const sent = await remote.call<{ id: string }>(`POST ${one(organizationId, id)}/ping`, {})
      return { eventId: sent.id as `evt_${string}` }
    },
  } satisfies Partial<Endpoints>
  return {
    endpoints,
    deliveries: remoteDeliveries(remote, at),
    replay: remoteReplay(remote, at),
    async books(organizationId: string): Promise<EndpointBooks[]> {
      return (await listed(organizationId)).map(({ id, deliveries }) => ({
        endpointId: id as EndpointBooks['endpointId'],
        ...deliveries,
      }))
    },
    secrets: {
      async reveal(organizationId: string) {
        const { secret, hint } = (await secretsOf(organizationId)).current
        return createSecret(secret, hint)
      },
      async rotate(organizationId: string, _actor: unknown, overlapMs?: number) {
        const body = overlapMs === undefined ? {} : { overlap_seconds: overlapMs / 1000 }
        const made = await remote.call<SecretsJson>(
          `POST ${at(organizationId)}/secret/rotate`,
          body,
        )
        return createSecret(made.current.secret, made.current.hint)
      },
      list: async (organizationId: string) =>
        (await secretsOf(organizationId)).old.map((old) => ({
          validUntil: msOf(old.valid_until),
        })),
    },
  }
}

type At = (organizationId: string) => string

function remoteDeliveries(remote: Remote, at: At) {
  return {
    async list(
      organizationId: string,
      { filter = {}, limit }: { readonly filter?: DeliveryFilter; readonly limit: number },
    ) {
      const search = new URLSearchParams()
      for (const [name, value] of Object.entries(filterBody(filter))) {
        if (typeof value === 'string') search.set(name, value)
      }
      const path = `${at(organizationId)}/deliveries?${search.toString()}`
      return (await remote.list<DeliveryJson>(path, limit)).map(toDelivery)
    },
    /** Throws `not_found` if there is no such delivery. */
    find: async (organizationId: string, id: string) =>
      toDelivery(await remote.call(`GET ${at(organizationId)}/deliveries/${part(id)}`)),
  }
}

function remoteReplay(remote: Remote, at: At) {
  return {
    async one(organizationId, deliveryId) {
      await remote.call(`POST ${at(organizationId)}/deliveries/${part(deliveryId)}/replay`, {})
    },
    async count(organizationId, filter) {
      const route = `POST ${at(organizationId)}/replays/count`
      return (await remote.call<{ deliveries: number }>(route, filterBody(filter))).deliveries
    },
    start: async (organizationId, filter) =>
      await remote.call<OperationRecord>(`POST ${at(organizationId)}/replays`, filterBody(filter)),
  } satisfies Partial<Webhooks['replay']>
}

type DeliveryJson = Readonly<Record<string, unknown>>

/** Several states at once can only be dead and skipped, which the API calls `missed`. */
function filterBody(filter: DeliveryFilter) {
  const { endpointId, eventId, states, onlyTried, types, createdFrom } = filter
  const state = onlyTried === true ? 'retrying' : states?.length === 1 ? states[0] : 'missed'
  return {
    endpoint: endpointId,
    event: eventId,
    type: types?.[0],
    state: states === undefined ? undefined : state,
    from: timeOf(createdFrom),
  }
}

function toDelivery(json: DeliveryJson): DeliveryRecord {
  return {
    id: json['id'],
    endpointId: json['endpoint_id'],
    eventId: json['event_id'],
    type: json['type'],
    state: json['state'],
    attemptsEver: json['attempts_ever'],
    createdAt: msOf(json['created_at']),
    dueAt: msOf(json['due_at']),
    completedAt: msOf(json['completed_at']),
    lastStatus: json['last_status'] ?? undefined,
    lastFailure: json['last_failure'] ?? undefined,
    skippedReason: json['skipped_reason'] ?? undefined,
  } as unknown as DeliveryRecord
}

function bodyOf({ url, ratePerSecond, ...input }: EndpointInput) {
  const { types, description, headers, ordered, asymmetric } = input
  return { url, types, description, headers, ordered, asymmetric, rate_per_second: ratePerSecond }
}

function toEndpoint(organizationId: string): (json: EndpointJson) => EndpointRecord {
  return (json) =>
    ({
      id: json['id'],
      organizationId,
      url: json['url'],
      description: json['description'],
      types: json['types'] ?? undefined,
      headerNames: json['header_names'],
      ratePerSecond: json['rate_per_second'] ?? undefined,
      ordered: json['ordered'],
      publicKey: json['public_key'] ?? undefined,
      createdAt: msOf(json['created_at']),
      health: {
        state: json['state'],
        disabledReason: json['disabled_reason'] ?? undefined,
        lastSuccessAt: msOf(json['last_success_at']),
      },
      version: json['version'],
    }) as unknown as EndpointRecord
}
