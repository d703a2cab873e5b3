import type { Clock } from '../../clock.ts'
import {
  deliveries,
  deliveryWork,
  organizationHeads,
  endpointLeases,
  endpoints,
  type AttemptOutcome,
  type DueDelivery,
  type EndpointRecord,
  type Lease,
  type Release,
  type Store,
  type Tx,
} from '../../store/index.ts'
import type { EndpointHealth } from './endpoint-health.ts'

export interface HealthOutcome {
  readonly endpoint: EndpointRecord
  readonly health: EndpointHealth
  readonly lastAttemptAt: number | undefined
}

/** The dispatcher's operations on the database; simulations in tests implement their own. */
export interface DeliveryWork {
  /** Leases unleased endpoints that have something to send, in these organizations or in all. */
  lease(request: {
    limit: number
    ttlMs: number
    organizationIds?: readonly string[] | undefined
  }): Promise<EndpointRecord[]>
  /** Returns the ids of the endpoints whose leases were renewed. */
  renew(request: { leases: readonly Lease[]; ttlMs: number }): Promise<ReadonlySet<string>>
  release(leases: readonly Release[]): Promise<void>
  load(
    endpoint: EndpointRecord,
    load: { limit: number; order: 'due' | 'ordered' | 'probe'; except: ReadonlySet<string> },
  ): Promise<{ deliveries: DueDelivery[]; exhausted: boolean }>
  nextDueAt(endpointId: string): Promise<number | undefined>
  /**
   * Writes a batch in one transaction, without the health of endpoints whose leases had been lost; returns the ids of
   * these endpoints.
   */
  complete(batch: {
    outcomes: readonly AttemptOutcome[]
    healths: readonly HealthOutcome[]
  }): Promise<ReadonlySet<string>>
}

/** `owner` names this node in its leases. */
export function createDeliveryWork(deps: {
  store: Store
  clock: Clock
  owner: string
}): DeliveryWork {
  const { clock, owner } = deps
  // Uses the background connections, because publishers that wait for each other may hold all other connections.
  const store = deps.store.background
  return {
    async lease({ limit, ttlMs, organizationIds }) {
      const search = { now: clock.now(), limit, organizationIds }
      const endpointIds = await endpointLeases.findLeasable(store, search)
      if (endpointIds.length === 0) return []
      return await store.transaction(
        async (tx) =>
          await endpointLeases.leaseEndpoints(tx, { owner, until: tx.now + ttlMs, endpointIds }),
      )
    },
    async renew({ leases, ttlMs }) {
      const kept = await store.transaction(
        async (tx) =>
          await endpointLeases.renewLeases(tx, { owner, until: tx.now + ttlMs, leases }),
      )
      return new Set(kept.map((endpoint) => endpoint.id))
    },
    async release(leases) {
      await store.transaction(
        async (tx) => await endpointLeases.releaseLeases(tx, { owner, leases }),
      )
    },
    load: async (endpoint, load) =>
      await deliveryWork.loadDue(
        store,
        { organizationId: endpoint.organizationId, endpointId: endpoint.id },
        { ...load, now: clock.now() },
      ),
    nextDueAt: async (endpointId) => await deliveryWork.nextDueAt(store, endpointId),
    complete: async (batch) => await store.transaction(async (tx) => await complete(tx, batch)),
  }
}

async function complete(
  tx: Tx,
  batch: { outcomes: readonly AttemptOutcome[]; healths: readonly HealthOutcome[] },
): Promise<ReadonlySet<string>> {
  const disabled = batch.healths.filter(({ health }) => health.state === 'disabled')
  // Organizations are locked in the order of their ids, so that transactions cannot deadlock.
  for (const organizationId of new Set(
    disabled.map(({ endpoint }) => endpoint.organizationId).toSorted(),
  )) {
    await organizationHeads.lockHead(tx, organizationId)
  }
  const newlyDisabled: HealthOutcome[] = []
  for (const one of disabled) {
    // The row shows whether this is a retry after a commit whose response was lost.
    const before = await endpoints.find(tx, one.endpoint.organizationId, one.endpoint.id)
    if (before && before.health.state !== 'disabled') newlyDisabled.push(one)
  }
  const written = await deliveryWork.writeHealths(tx, batch.healths)
  const asked = new Set(batch.healths.map(({ endpoint }) => endpoint.id as string))
  const lost = asked.difference(written)
  await deliveryWork.complete(tx, batch.outcomes)
  for (const { endpoint, health } of newlyDisabled) {
    if (!lost.has(endpoint.id)) await announceDisabled(tx, endpoint, health)
  }
  return lost
}

async function announceDisabled(
  tx: Tx,
  endpoint: EndpointRecord,
  health: EndpointHealth,
): Promise<void> {
  const { organizationId, id } = endpoint
  const skipped = await deliveries.skipPending(tx, { organizationId, id }, 'endpoint_disabled')
  const reason = health.disabledReason ?? 'failing'
  tx.audit({
    organizationId,
    actor: { kind: 'system' },
    action: 'webhook.endpoint_disabled',
    subject: { kind: 'endpoint', id },
    detail: { url: endpoint.url, reason, skipped },
  })
  tx.event({
    organizationId,
    type: 'webhook.endpoint_disabled',
    data: { endpoint_id: id, url: endpoint.url, reason },
  })
  tx.changed({ kind: 'endpoint', organizationId, endpointIds: [id] })
}
