import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Outbound } from '../http/index.ts'
import { createId, type EventId } from '../ids.ts'
import { mintWebhookKeyPair, type Sealer } from '../secrets/index.ts'
import {
  deliveries,
  organizationHeads,
  endpoints,
  type Actor,
  type EndpointRecord,
  type EndpointSettings,
  type Store,
  type Tx,
  type AuditVerb,
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

export interface EndpointsDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly outbound: Outbound
  readonly clock: Clock
  readonly secrets: WebhookSecrets
  /** The maximum number of endpoints per organization (LIMIT_WEBHOOK_ENDPOINTS); defaults to 50. */
  readonly maxEndpoints: number | undefined
}

export class Endpoints {
  readonly #deps: EndpointsDeps

  constructor(deps: EndpointsDeps) {
    this.#deps = deps
  }

  async list(organizationId: string): Promise<EndpointRecord[]> {
    return await endpoints.list(this.#deps.store, organizationId)
  }

  /** Throws `not_found`. */
  async get(organizationId: string, id: string): Promise<EndpointRecord> {
    return found(await endpoints.find(this.#deps.store, organizationId, id))
  }

  /** Returns the organization that an endpoint belongs to, for the command line. Throws `not_found`. */
  async organizationOf(id: string): Promise<string> {
    const organizationId = await endpoints.organizationOf(this.#deps.store, id)
    if (organizationId === undefined) throw notFound()
    return organizationId
  }

  /** Throws `invalid_input`, `outbound_blocked`, or `conflict` when there are too many. */
  async create(
    organizationId: string,
    input: EndpointInput & { readonly url: string },
    actor: Actor,
  ): Promise<EndpointRecord> {
    const { outbound, secrets, clock, maxEndpoints = maxUsualEndpoints } = this.#deps
    checkInput(input, outbound)
    await secrets.list(organizationId)
    const id = createId('ep', clock.now())
    return await this.#change({ organizationId, id }, async (tx) => {
      if ((await endpoints.count(tx, organizationId)) >= maxEndpoints) {
        throw new Problem('conflict', `An organization has up to ${maxEndpoints} endpoints.`)
      }
      const settings = this.#settingsOf({ organizationId, id }, input)
      const endpoint = { ...settings, id, organizationId, url: input.url, createdBy: actor.id }
      const created = await endpoints.insert(tx, endpoint)
      note(tx, created, { actor, verb: 'created', detail: { types: created.types ?? 'all' } })
      return created
    })
  }

  /**
   * Throws `invalid_input`, `outbound_blocked`, `not_found`, or `version_conflict` if the endpoint no longer has the
   * given version.
   */
  async update(
    organizationId: string,
    id: string,
    change: { input: EndpointInput; actor: Actor; version?: number | undefined },
  ): Promise<EndpointRecord> {
    const { input, actor, version } = change
    checkInput(input, this.#deps.outbound)
    const subject = { organizationId, id }
    return await this.#change(subject, async (tx) => {
      const before = found(await endpoints.find(tx, organizationId, id))
      // An existing key pair is kept, because receivers have its public half.
      const asymmetric = input.asymmetric && before.publicKey ? undefined : input.asymmetric
      // Headers may contain a receiver's secret, so they must not follow the endpoint to another origin.
      const moved = input.url !== undefined && originOf(input.url) !== originOf(before.url)
      const headers = moved ? (input.headers ?? {}) : input.headers
      const settings = this.#settingsOf(subject, { ...input, asymmetric, headers })
      const changed = await endpoints.update(tx, { organizationId, id, settings, version })
      if (!changed) throw new Problem('version_conflict')
      const fields = Object.entries(input).flatMap(([name, value]) =>
        value === undefined ? [] : [name],
      )
      note(tx, changed, { actor, verb: 'updated', detail: { fields, url_before: before.url } })
      return changed
    })
  }

  /** Deletes an endpoint; its pending deliveries become skipped. Throws `not_found`. */
  async remove(organizationId: string, id: string, actor: Actor): Promise<void> {
    const endpoint = await this.get(organizationId, id)
    await this.#change({ organizationId, id }, async (tx) => {
      if (!(await endpoints.remove(tx, organizationId, id))) throw notFound()
      const skipped = await deliveries.skipPending(tx, { organizationId, id }, 'endpoint_deleted')
      note(tx, endpoint, { actor, verb: 'deleted', detail: { skipped } })
      return endpoint
    })
  }

  /** Enables an endpoint in any state; its former failures no longer count. */
  async enable(organizationId: string, id: string, actor: Actor): Promise<EndpointRecord> {
    return await this.#change({ organizationId, id }, async (tx) => {
      const before = found(await endpoints.find(tx, organizationId, id))
      const { lastSuccessAt } = before.health
      const health = { ...freshHealth, lastSuccessAt }
      const changed = found(await endpoints.updateHealth(tx, { organizationId, id }, health))
      if (before.health.state === 'disabled') {
        announce(tx, changed, { actor, verb: 'enabled', detail: {} })
      } else if (before.health.state === 'held') {
        note(tx, changed, { actor, verb: 'enabled', detail: { before: 'held' } })
      }
      tx.changed({ kind: 'delivery', organizationId, endpointIds: 'all' })
      return changed
    })
  }

  /** Disables an endpoint: its pending deliveries become skipped, and future events are skipped too. */
  async disable(organizationId: string, id: string, actor: Actor): Promise<EndpointRecord> {
    return await this.#change({ organizationId, id }, async (tx) => {
      const before = found(await endpoints.find(tx, organizationId, id))
      if (before.health.state === 'disabled') return before
      const health = disabled(before.health as EndpointHealth, 'by_hand')
      const changed = found(await endpoints.updateHealth(tx, { organizationId, id }, health))
      const skipped = await deliveries.skipPending(tx, { organizationId, id }, 'endpoint_disabled')
      announce(tx, changed, { actor, verb: 'disabled', detail: { reason: 'by_hand', skipped } })
      return changed
    })
  }

  /**
   * Sends the sample event of a type (a ping by default) to this endpoint only. Throws `not_found`, or `conflict` if
   * the endpoint is disabled.
   */
  async sendSample(
    organizationId: string,
    id: string,
    { actor, type = 'webhook.ping' }: { actor: Actor; type?: string },
  ): Promise<{ eventId: EventId }> {
    const sample = findEventType(type)?.sample
    if (!sample) throw new Problem('not_found', `There is no event type ${type.slice(0, 60)}.`)
    const eventId = createId('evt', this.#deps.clock.now())
    await this.#deps.store.transaction(async (tx) => {
      await organizationHeads.lockHead(tx, organizationId)
      const endpoint = found(await endpoints.find(tx, organizationId, id))
      const { health } = endpoint
      if (health.state === 'disabled') {
        throw new Problem('conflict', 'The endpoint is disabled: enable it first.')
      }
      // A held endpoint is probed now, because the sample is meant to show whether it works.
      if (health.state === 'held') {
        const probing = probedNow(health as EndpointHealth, tx.now)
        await endpoints.updateHealth(tx, { organizationId, id }, probing)
      }
      const data = sample['data'] as Record<string, unknown>
      const own = type === 'webhook.ping' ? { ...data, endpoint_id: id } : data
      tx.event({ organizationId, type, id: eventId, onlyEndpointId: id, data: own })
      note(tx, endpoint, { actor, verb: 'sample_sent', detail: { type } })
    })
    return { eventId }
  }

  async prepare(endpoint: EndpointRecord): Promise<PreparedEndpoint> {
    const { sealer, secrets } = this.#deps
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
  }

  #settingsOf({ organizationId, id }: Subject, input: EndpointInput): EndpointSettings {
    const { sealer } = this.#deps
    const { url, description, types, ratePerSecond, ordered, headers, asymmetric } = input
    const pair = asymmetric ? mintWebhookKeyPair() : undefined
    const sealed = headers && sealer.seal(JSON.stringify(headers), [organizationId, id, 'headers'])
    return {
      ...{ url, description, types, ratePerSecond, ordered },
      ...(headers && { headersSealed: sealed, headerNames: Object.keys(headers) }),
      ...(asymmetric === false && { publicKey: null, privateKeySealed: null }),
      ...(pair && {
        publicKey: pair.publicKey,
        privateKeySealed: sealer.seal(pair.privateKey, [organizationId, id, 'private_key']),
      }),
    }
  }

  async #change(
    { organizationId, id }: Subject,
    work: (tx: Tx) => Promise<EndpointRecord>,
  ): Promise<EndpointRecord> {
    return await this.#deps.store.transaction(async (tx) => {
      await organizationHeads.lockHead(tx, organizationId)
      const changed = await work(tx)
      tx.changed({ kind: 'endpoint', organizationId, endpointIds: [id] })
      return changed
    })
  }
}

interface Subject {
  readonly organizationId: string
  readonly id: string
}

interface AuditedChange {
  readonly actor: Actor
  readonly verb: AuditVerb<'webhook.endpoint_'>
  readonly detail: Record<string, unknown>
}

function found(endpoint: EndpointRecord | undefined): EndpointRecord {
  if (!endpoint) throw notFound()
  return endpoint
}

function notFound(): Problem {
  return new Problem('not_found', 'There is no such endpoint.')
}

function originOf(url: string): string {
  return new URL(url).origin
}

function note(tx: Tx, endpoint: EndpointRecord, { actor, verb, detail }: AuditedChange): void {
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
  change: AuditedChange & { readonly verb: 'enabled' | 'disabled' },
): void {
  const { organizationId, id, url } = endpoint
  note(tx, endpoint, change)
  const reason = change.verb === 'disabled' ? { reason: 'by_hand' } : {}
  const data = { endpoint_id: id, url, ...reason }
  publish(tx, { organizationId, type: `webhook.endpoint_${change.verb}`, data })
}
