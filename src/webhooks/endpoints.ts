import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Outbound } from '../http/index.ts'
import { createId, type EventId } from '../ids.ts'
import { mintWebhookKeyPair, type Sealer } from '../secrets/index.ts'
import {
  deliveries,
  deliveryWork,
  endpoints,
  type Actor,
  type EndpointRecord,
  type EndpointSettings,
  type Store,
  type Tx,
} from '../store/index.ts'
import { findEventType } from './events/catalogue.ts'
import {
  disabled,
  freshHealth,
  probedNow,
  type EndpointHealth,
} from './delivery/endpoint-health.ts'
import { checkInput, type EndpointInput } from './endpoint-input.ts'
import { publish } from './events/publish.ts'
import type { PreparedEndpoint } from './delivery/send.ts'
import { createDeliverySigner } from './signing/signatures.ts'
import type { WebhookSecrets } from './signing/secret.ts'

const maxUsualEndpoints = 50

/** Endpoints: add, change, switch, test. */
export interface Endpoints {
  list(organizationId: string): Promise<EndpointRecord[]>
  /** `not_found`. */
  get(organizationId: string, id: string): Promise<EndpointRecord>
  /** Whose endpoint this is, for the command line; `not_found`. */
  organizationOf(id: string): Promise<string>
  /** `invalid_input`, `outbound_blocked`, `conflict` when there are too many. */
  create(
    organizationId: string,
    wish: EndpointInput & { readonly url: string },
    actor: Actor,
  ): Promise<EndpointRecord>
  /** The same, `not_found`, and `version_conflict` if somebody else was faster. */
  update(
    organizationId: string,
    id: string,
    wish: EndpointInput,
    actor: Actor,
    version?: number,
  ): Promise<EndpointRecord>
  /** What waits becomes skipped deliveries. */
  remove(organizationId: string, id: string, actor: Actor): Promise<void>
  /** On from any state, as new; off: what waits and what comes becomes skipped deliveries. */
  enable(organizationId: string, id: string, actor: Actor): Promise<EndpointRecord>
  disable(organizationId: string, id: string, actor: Actor): Promise<EndpointRecord>
  /** Sends the sample of a type (a ping by default) to this endpoint alone; `conflict` if it is disabled. */
  sendSample(
    organizationId: string,
    id: string,
    actor: Actor,
    type?: string,
  ): Promise<{ eventId: EventId }>
  /** What the dispatcher needs to send. */
  prepare(endpoint: EndpointRecord): Promise<PreparedEndpoint>
}

/** Opens the rules of endpoints. */
export function createEndpoints(deps: {
  store: Store
  sealer: Sealer
  outbound: Outbound
  clock: Clock
  secrets: WebhookSecrets
  /** LIMIT_WEBHOOK_ENDPOINTS, for each organization; 50. */
  maxEndpoints: number | undefined
}): Endpoints {
  const { store, sealer, outbound, secrets, maxEndpoints = maxUsualEndpoints } = deps

  async function get(organizationId: string, id: string): Promise<EndpointRecord> {
    return found(await endpoints.find(store, organizationId, id))
  }

  /** The columns of a wish; what may be secret is sealed for this endpoint. */
  function settingsOf(organizationId: string, id: string, wish: EndpointInput): EndpointSettings {
    const { url, description, types, ratePerSecond, ordered, headers, asymmetric } = wish
    const pair = asymmetric ? mintWebhookKeyPair() : undefined
    const sealed = headers && sealer.seal(JSON.stringify(headers), [organizationId, id, 'headers'])
    return {
      url,
      description,
      types,
      ratePerSecond,
      ordered,
      ...(headers && { headersSealed: sealed, headerNames: Object.keys(headers) }),
      ...(asymmetric === false && { publicKey: null, privateKeySealed: null }),
      ...(pair && {
        publicKey: pair.publicKey,
        privateKeySealed: sealer.seal(pair.privateKey, [organizationId, id, 'private_key']),
      }),
    }
  }

  async function change(
    organizationId: string,
    id: string,
    work: (tx: Tx) => Promise<EndpointRecord>,
  ): Promise<EndpointRecord> {
    return await store.transaction(async (tx) => {
      await deliveryWork.lockOrganization(tx, organizationId)
      const changed = await work(tx)
      tx.changed({ kind: 'endpoint', organizationId, subjectId: id })
      return changed
    })
  }

  return {
    get,
    list: async (organizationId) => await endpoints.list(store, organizationId),
    async organizationOf(id) {
      const organizationId = await endpoints.organizationOf(store, id)
      if (organizationId === undefined) found(undefined)
      return organizationId ?? ''
    },

    async create(organizationId, wish, actor) {
      checkInput(wish, outbound)
      await secrets.list(organizationId)
      const id = createId('ep', deps.clock.now())
      return await change(organizationId, id, async (tx) => {
        if ((await endpoints.count(tx, organizationId)) >= maxEndpoints) {
          throw new Problem('conflict', `An organization has up to ${maxEndpoints} endpoints.`)
        }
        const settings = settingsOf(organizationId, id, wish)
        const endpoint = { ...settings, id, organizationId, url: wish.url, createdBy: actor.id }
        const created = await endpoints.insert(tx, endpoint)
        note(tx, created, actor, 'created', { types: created.types ?? 'all' })
        return created
      })
    },

    async update(organizationId, id, wish, actor, version) {
      checkInput(wish, outbound)
      const before = await get(organizationId, id)
      // A key pair that is there stays: receivers have its public half.
      const asymmetric = wish.asymmetric && before.publicKey ? undefined : wish.asymmetric
      // Headers may hold a receiver's secret: they do not follow the endpoint to another host (P15).
      const moved = wish.url !== undefined && originOf(wish.url) !== originOf(before.url)
      const headers = moved ? (wish.headers ?? {}) : wish.headers
      const settings = settingsOf(organizationId, id, { ...wish, asymmetric, headers })
      return await change(organizationId, id, async (tx) => {
        const changed = await endpoints.update(tx, { organizationId, id, settings, version })
        if (!changed) {
          found(await endpoints.find(tx, organizationId, id))
          throw new Problem('version_conflict')
        }
        const fields = Object.entries(wish).flatMap(([name, value]) =>
          value === undefined ? [] : [name],
        )
        note(tx, changed, actor, 'updated', { fields, url_before: before.url })
        return changed
      })
    },

    async remove(organizationId, id, actor) {
      const endpoint = await get(organizationId, id)
      await change(organizationId, id, async (tx) => {
        if (!(await endpoints.remove(tx, organizationId, id))) found(undefined)
        const skipped = await deliveries.skipPending(tx, {
          organizationId,
          endpointId: id,
          reason: 'endpoint_deleted',
        })
        note(tx, endpoint, actor, 'deleted', { skipped })
        return endpoint
      })
    },

    async enable(organizationId, id, actor) {
      return await change(organizationId, id, async (tx) => {
        const before = found(await endpoints.find(tx, organizationId, id))
        const { lastSuccessAt } = before.health
        const health = { ...freshHealth, lastSuccessAt }
        const changed = found(await endpoints.updateHealth(tx, { organizationId, id, health }))
        if (before.health.state === 'disabled') announce(tx, changed, actor, 'enabled', {})
        tx.changed({ kind: 'delivery', organizationId, subjectId: organizationId })
        return changed
      })
    },

    async disable(organizationId, id, actor) {
      return await change(organizationId, id, async (tx) => {
        const before = found(await endpoints.find(tx, organizationId, id))
        if (before.health.state === 'disabled') return before
        const health = disabled(before.health as EndpointHealth, 'by_hand')
        const changed = found(await endpoints.updateHealth(tx, { organizationId, id, health }))
        const skipped = await deliveries.skipPending(tx, {
          organizationId,
          endpointId: id,
          reason: 'endpoint_disabled',
        })
        announce(tx, changed, actor, 'disabled', { reason: 'by_hand', skipped })
        return changed
      })
    },

    async sendSample(organizationId, id, actor, type = 'webhook.ping') {
      const sample = findEventType(type)?.sample
      if (!sample) throw new Problem('not_found', `There is no event type ${type.slice(0, 60)}.`)
      const eventId = createId('evt', deps.clock.now())
      await store.transaction(async (tx) => {
        await deliveryWork.lockOrganization(tx, organizationId)
        const endpoint = found(await endpoints.find(tx, organizationId, id))
        const { health } = endpoint
        if (health.state === 'disabled') {
          throw new Problem('conflict', 'The endpoint is disabled: enable it first.')
        }
        // A held endpoint is probed now: that is what the person wants to know.
        if (health.state === 'held') {
          const probing = probedNow(health as EndpointHealth, tx.now)
          await endpoints.updateHealth(tx, { organizationId, id, health: probing })
        }
        const data = sample['data'] as Record<string, unknown>
        const own = type === 'webhook.ping' ? { ...data, endpoint_id: id } : data
        tx.event({ organizationId, type, id: eventId, onlyEndpointId: id, data: own })
        note(tx, endpoint, actor, 'sample_sent', { type })
      })
      return { eventId }
    },

    async prepare(endpoint) {
      const { organizationId, id, headersSealed, privateKeySealed } = endpoint
      const headers =
        headersSealed === undefined
          ? {}
          : (JSON.parse(sealer.open(headersSealed, [organizationId, id, 'headers'])) as Record<
              string,
              string
            >)
      const privateKey =
        privateKeySealed && sealer.open(privateKeySealed, [organizationId, id, 'private_key'])
      const signer = createDeliverySigner(await secrets.open(organizationId), privateKey)
      return { url: endpoint.url, headers, signer }
    },
  }
}

function found(endpoint: EndpointRecord | undefined): EndpointRecord {
  if (!endpoint) throw new Problem('not_found', 'There is no such endpoint.')
  return endpoint
}

function originOf(url: string): string {
  return new URL(url).origin
}

function note(
  tx: Tx,
  endpoint: EndpointRecord,
  actor: Actor,
  verb: string,
  detail: Record<string, unknown>,
): void {
  tx.audit({
    organizationId: endpoint.organizationId,
    actor,
    action: `webhook.endpoint_${verb}`,
    subject: { kind: 'endpoint', id: endpoint.id },
    detail: { url: endpoint.url, ...detail },
  })
}

function announce(
  tx: Tx,
  endpoint: EndpointRecord,
  actor: Actor,
  verb: 'enabled' | 'disabled',
  detail: Record<string, unknown>,
): void {
  const { organizationId, id, url } = endpoint
  note(tx, endpoint, actor, verb, detail)
  const reason = verb === 'disabled' ? { reason: 'by_hand' } : {}
  const data = { endpoint_id: id, url, ...reason }
  publish(tx, { organizationId, type: `webhook.endpoint_${verb}`, data })
}
