/** Events, endpoints, deliveries: everything that happens is announced, signed, and never lost. */
import type { Clock } from '../clock.ts'
import type { Outbound } from '../http/index.ts'
import { createId } from '../ids.ts'
import type { Log } from '../telemetry/index.ts'
import type { Metrics } from '../telemetry/index.ts'
import type { Sealer } from '../secrets/index.ts'
import {
  attempts,
  deliveries,
  endpointCounts,
  events,
  type AttemptRecord,
  type DeliveryFilter,
  type DeliveryRecord,
  type EndpointBooks,
  type EventRecord,
  type Store,
} from '../store/index.ts'
import { Dispatcher } from './delivery/dispatcher.ts'
import { endpointFigures, type EndpointFigures } from './endpoint-figures.ts'
import { createEndpoints, type Endpoints } from './endpoints.ts'
import { endDeadLeases, leaseOwner } from './delivery/lease-owner.ts'
import { measureAttempts } from './delivery/measure.ts'
import { measureQueue } from './delivery/measure-queue.ts'
import { createOperations, type Operations } from './delivery/operations.ts'
import { createReplay, type Replay } from './delivery/replay.ts'
import { removeOld, type RetentionResult } from './delivery/retention.ts'
import { createWebhookSecrets, type WebhookSecrets } from './signing/secret.ts'
import { createSend } from './delivery/send.ts'
import { createDeliveryWork } from './delivery/work.ts'

export { publish } from './events/publish.ts'
export { eventTypes } from './events/catalogue.ts'

export { verifyDelivery } from './signing/verify.ts'

const usualGraceMs = 16_000
const retentionEveryMs = 3_600_000
const retentionFirstMs = 60_000
const deliveriesKeptMs = 30 * 24 * 3_600_000

/** The room of webhooks. */
export interface Webhooks extends AsyncDisposable {
  readonly endpoints: Endpoints
  readonly secrets: WebhookSecrets
  readonly replay: Replay
  readonly operations: Operations
  readonly deliveries: {
    list(
      organizationId: string,
      page: { filter?: DeliveryFilter; before?: string | undefined; limit: number },
    ): Promise<DeliveryRecord[]>
    find(organizationId: string, id: string): Promise<DeliveryRecord | undefined>
    attempts(organizationId: string, deliveryId: string): Promise<AttemptRecord[]>
  }
  readonly events: {
    /** Events behind a sequence, in their order. */
    listAfter(
      organizationId: string,
      page: { after: number; limit: number; types?: readonly string[] | undefined },
    ): Promise<EventRecord[]>
    find(organizationId: string, id: string): Promise<EventRecord | undefined>
  }
  /** An endpoint's deliveries over time. */
  figures(
    organizationId: string,
    wish: { endpointId: string; from: number; to: number; stepMs: number },
  ): Promise<EndpointFigures>
  /** committed = delivered + dead + pending + held + skipped, for each endpoint. */
  books(organizationId: string, endpointId?: string): Promise<EndpointBooks[]>
  /** Removes what ended longer ago than is kept; a running room does it every hour by itself. */
  removeOld(): Promise<RetentionResult>
  /** Starts to send, to go on with replays and to tidy up; until then this is only rules (the command line). */
  start(): Promise<void>
  /** For tests and metrics. */
  /** Begins to stop: no new attempts from now on. Closing waits for those under way. */
  stopSending(): void
  readonly state: () => { lanes: number; sending: number; unwritten: number }
}

/** What varies. */
export interface WebhooksDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly outbound: Outbound
  readonly log: Log
  readonly random?: (() => number) | undefined
  /** Ended deliveries and their events are removed after this; 30 days. */
  readonly deliveriesKeptMs?: number | undefined
  /** Endpoints of an organization; 50. */
  readonly maxEndpoints?: number | undefined
  /** How long a stop waits for receivers before it cuts them off; 16 s, a little more than an attempt may take. */
  readonly graceMs?: number | undefined
  readonly metrics?: Metrics | undefined
}

/** Opens the room. */
export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { store, sealer, clock, outbound, log } = deps
  const random = deps.random ?? Math.random
  const owner = leaseOwner(createId('node', clock.now()))
  const secrets = createWebhookSecrets({ store, sealer, clock })
  const endpoints = createEndpoints({
    store,
    sealer,
    outbound,
    clock,
    secrets,
    maxEndpoints: deps.maxEndpoints,
  })
  const onError = (error: unknown): void => log.warn({ err: error }, 'webhooks: tried again later')
  const replay = createReplay({ store, clock, after, onError })
  const dispatcher = new Dispatcher({
    work: createDeliveryWork({ store, clock, owner }),
    send: createSend({ outbound, clock }),
    prepare: endpoints.prepare,
    clock,
    random,
    after,
    onError,
    onAttempt: deps.metrics && measureAttempts(deps.metrics),
  })
  if (deps.metrics) measureQueue({ store, clock, metrics: deps.metrics })
  let started = false
  let stopped = false
  let stopping: Promise<void> | undefined
  let cancelTidying: (() => void) | undefined
  let tidying: Promise<unknown> | undefined

  async function remove(): Promise<RetentionResult> {
    const pause = async (ms: number): Promise<void> =>
      await new Promise((resolve) => void after(ms, resolve))
    const keptMs = deps.deliveriesKeptMs ?? deliveriesKeptMs
    return await removeOld({ store, clock, pause, stopped: () => stopped }, keptMs)
  }

  function tidy(): void {
    tidying = remove()
      .catch(onError)
      .finally(() => {
        if (!stopped) cancelTidying = after(retentionEveryMs * (0.9 + 0.2 * random()), tidy)
      })
  }

  async function stopSending(): Promise<void> {
    if (!started) return
    stopping ??= dispatcher.stop(deps.graceMs ?? usualGraceMs)
    await stopping
  }

  return {
    endpoints,
    secrets,
    replay,
    operations: createOperations({ store, onResumed: replay.resume }),
    deliveries: {
      list: async (organizationId, page) =>
        await deliveries.list(store.slowReads, organizationId, page),
      find: async (organizationId, id) => await deliveries.find(store, organizationId, id),
      attempts: async (organizationId, id) => await attempts.list(store, organizationId, id),
    },
    events: {
      listAfter: async (organizationId, page) =>
        await events.listAfter(store.slowReads, organizationId, page),
      find: async (organizationId, id) => await events.find(store, organizationId, id),
    },
    figures: async (organizationId, wish) => await endpointFigures(store, organizationId, wish),
    books: async (organizationId, endpointId) =>
      await endpointCounts.list(store.slowReads, organizationId, endpointId),
    removeOld: remove,
    async start() {
      started = true
      await endDeadLeases(store, clock, owner)
      store.feed.on(
        'delivery',
        ({ organizationId, subjectId }) =>
          dispatcher.hint(
            organizationId,
            subjectId === organizationId ? undefined : subjectId.split(' '),
          ),
        noMatter,
      )
      store.feed.on(
        'endpoint',
        ({ organizationId, subjectId }) =>
          dispatcher.forget(organizationId, subjectId === organizationId ? undefined : subjectId),
        // Leases that were taken in another history of the database are somebody else's in this one.
        () => dispatcher.forget(),
      )
      dispatcher.start()
      replay.resume()
      cancelTidying = after(retentionFirstMs, tidy)
    },
    state: () => dispatcher.state(),
    stopSending: () => void stopSending(),
    async [Symbol.asyncDispose]() {
      stopped = true
      cancelTidying?.()
      await replay.stop()
      await tidying
      await stopSending()
    },
  }
}

/** A feed that starts afresh costs at most a second: polling is the truth. */
function noMatter(): void {
  // Nothing to forget.
}

function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}
