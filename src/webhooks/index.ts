/** Events, endpoints and deliveries: publishes events and delivers them, signed, to the endpoints that subscribe. */
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
import { Endpoints } from './endpoints.ts'
import { endDeadLeases, leaseOwner } from './delivery/lease-owner.ts'
import { measureAttempts } from './delivery/measure.ts'
import { measureQueue } from './delivery/measure-queue.ts'
import { createOperations, type Operations } from './delivery/operations.ts'
import { Replay } from './delivery/replay.ts'
import { removeOld, type RetentionResult } from './delivery/retention.ts'
import { WebhookSecrets } from './signing/secret.ts'
import { createSend } from './delivery/send.ts'
import { createDeliveryWork } from './delivery/work.ts'
import { lazily } from '../timers.ts'
import { dayMs, hourMs, minuteMs } from '../units.ts'

export { publish } from './events/index.ts'
export { eventTypes } from './events/catalogue.ts'

export { verifyDelivery } from './signing/verify.ts'

const usualGraceMs = 16_000
const retentionEveryMs = hourMs
const retentionFirstMs = minuteMs
const deliveriesKeptMs = 30 * dayMs

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
    /** Lists events after a sequence number, in order. */
    listAfter(
      organizationId: string,
      page: { after: number; limit: number; types?: readonly string[] | undefined },
    ): Promise<EventRecord[]>
    find(organizationId: string, id: string): Promise<EventRecord | undefined>
  }
  figures(
    organizationId: string,
    range: { endpointId: string; from: number; to: number; stepMs: number },
  ): Promise<EndpointFigures>
  /** Counts each endpoint's deliveries by state, where committed = delivered + dead + pending + held + skipped. */
  books(organizationId: string, endpointId?: string): Promise<EndpointBooks[]>
  /**
   * Deletes finished deliveries older than the retention period, and events of that age that have no deliveries left; a
   * running node does this about every hour.
   */
  removeOld(): Promise<RetentionResult>
  /** Starts the background work, which the command line does not need. */
  start(): Promise<void>
  /** No new attempts start from now on; closing waits for the attempts in progress. */
  stopSending(): void
  /** Returns how much is in progress, for tests. */
  state(): { lanes: number; sending: number; unwritten: number }
}

export interface WebhooksDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly outbound: Outbound
  readonly log: Log
  readonly random?: (() => number) | undefined
  /** Finished deliveries, and events that no delivery still needs, are deleted after this time; defaults to 30 days. */
  readonly deliveriesKeptMs?: number | undefined
  /** The maximum number of endpoints per organization; defaults to 50. */
  readonly maxEndpoints?: number | undefined
  /**
   * How long stopping waits for receivers before aborting; defaults to 16 s, slightly more than an attempt may take.
   */
  readonly graceMs?: number | undefined
  /** How long an attempt may take, including the response's body; defaults to 15 s. */
  readonly attemptMs?: number | undefined
  readonly metrics?: Metrics | undefined
}

/** Nothing runs before `start`. */
export function createWebhooks(deps: WebhooksDeps): Webhooks {
  return new RunningWebhooks(deps)
}

class RunningWebhooks implements Webhooks {
  readonly endpoints: Endpoints
  readonly secrets: WebhookSecrets
  readonly replay: Replay
  readonly operations: Operations
  readonly deliveries: Webhooks['deliveries']
  readonly events: Webhooks['events']
  readonly #deps: WebhooksDeps
  readonly #random: () => number
  readonly #onError: (error: unknown) => void
  readonly #leaseOwner: string
  readonly #dispatcher: Dispatcher
  #isStarted = false
  #isStopped = false
  #stopping: Promise<void> | undefined
  #cancelTidying: (() => void) | undefined
  #tidying: Promise<unknown> | undefined

  constructor(deps: WebhooksDeps) {
    const {
      store,
      sealer,
      clock,
      outbound,
      log,
      metrics,
      maxEndpoints,
      attemptMs,
      random = Math.random,
    } = deps
    this.#deps = deps
    this.#random = random
    this.#onError = (err) => log.warn({ err }, 'webhooks: tried again later')
    this.#leaseOwner = leaseOwner(createId('node', clock.now()))
    this.secrets = new WebhookSecrets({ store, sealer, clock })
    const { secrets } = this
    this.endpoints = new Endpoints({ store, sealer, outbound, clock, secrets, maxEndpoints })
    this.replay = new Replay({ store, clock, after, afterAtMost, onError: this.#onError })
    this.operations = createOperations({ store, onResumed: () => this.replay.resume() })
    this.deliveries = deliveriesOf(store)
    this.events = eventsOf(store)
    this.#dispatcher = new Dispatcher({
      ...{ clock, random, after, onError: this.#onError },
      afterAtMost,
      work: createDeliveryWork({ store, clock, owner: this.#leaseOwner }),
      send: createSend({ outbound, clock, attemptMs }),
      prepare: async (endpoint) => await this.endpoints.prepare(endpoint),
      onAttempt: metrics && measureAttempts(metrics),
    })
    if (metrics) measureQueue({ store, clock, metrics })
  }

  async books(organizationId: string, endpointId?: string): Promise<EndpointBooks[]> {
    return await endpointCounts.list(this.#deps.store.slowReads, organizationId, endpointId)
  }

  async figures(
    organizationId: string,
    range: { endpointId: string; from: number; to: number; stepMs: number },
  ): Promise<EndpointFigures> {
    return await endpointFigures(this.#deps.store, organizationId, range)
  }

  async removeOld(): Promise<RetentionResult> {
    const { store, clock, deliveriesKeptMs: keptMs = deliveriesKeptMs } = this.#deps
    const pause = async (ms: number): Promise<void> =>
      await new Promise((resolve) => void after(ms, resolve))
    return await removeOld({ store, clock, pause, stopped: () => this.#isStopped }, keptMs)
  }

  async start(): Promise<void> {
    const { store, clock } = this.#deps
    this.#isStarted = true
    await endDeadLeases(store, clock, this.#leaseOwner)
    this.#follow()
    this.#dispatcher.start()
    this.replay.resume()
    this.#cancelTidying = after(retentionFirstMs, () => this.#tidy())
  }

  stopSending(): void {
    void this.#stop()
  }

  state(): { lanes: number; sending: number; unwritten: number } {
    return this.#dispatcher.state()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    this.#cancelTidying?.()
    await this.replay.stop()
    await this.#tidying
    await this.#stop()
  }

  #follow(): void {
    const { feed } = this.#deps.store
    // Endpoints that deliveries are being sent to may change.
    feed.keepAwakeWhile(() => this.#dispatcher.state().lanes > 0)
    feed.on(
      'delivery',
      ({ organizationId, endpointIds }) =>
        this.#dispatcher.hint(organizationId, endpointIds === 'all' ? undefined : endpointIds),
      noMatter,
    )
    feed.on(
      'endpoint',
      ({ organizationId, endpointIds }) => {
        if (endpointIds === 'all') return this.#dispatcher.forget(organizationId)
        for (const id of endpointIds) this.#dispatcher.forget(organizationId, id)
      },
      // After a restore of the database, other nodes may hold the leases that this one took.
      () => this.#dispatcher.forget(),
    )
  }

  #tidy(): void {
    this.#tidying = this.removeOld()
      .catch(this.#onError)
      .finally(() => {
        if (this.#isStopped) return
        const waitMs = retentionEveryMs * (0.9 + 0.2 * this.#random())
        this.#cancelTidying = after(waitMs, () => this.#tidy())
      })
  }

  async #stop(): Promise<void> {
    if (!this.#isStarted) return
    this.#stopping ??= this.#dispatcher.stop(this.#deps.graceMs ?? usualGraceMs)
    await this.#stopping
  }
}

function deliveriesOf(store: Store): Webhooks['deliveries'] {
  return {
    list: async (organizationId, page) =>
      await deliveries.list(store.slowReads, organizationId, page),
    find: async (organizationId, id) => await deliveries.find(store, organizationId, id),
    attempts: async (organizationId, id) => await attempts.list(store, organizationId, id),
  }
}

function eventsOf(store: Store): Webhooks['events'] {
  return {
    listAfter: async (organizationId, page) =>
      await events.listAfter(store.slowReads, organizationId, page),
    find: async (organizationId, id) => await events.find(store, organizationId, id),
  }
}

/** Ignores a reset of the feed: polling, at least every three seconds, finds the deliveries whose hints were lost. */
function noMatter(): void {
  // There is nothing to drop.
}

function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}

/** Like `after`, but may call earlier than asked, together with other background work of this node. */
function afterAtMost(ms: number, call: () => void): () => void {
  return lazily.after(ms, call)
}
