import type { Clock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import { createId } from '../../ids.ts'
import {
  deliveries,
  organizationHeads,
  endpoints,
  operations,
  type Actor,
  type DeliveryFilter,
  type OperationRecord,
  type Store,
  type Tx,
} from '../../store/index.ts'

const kind = 'webhook.replay'
const deliveriesInStep = 500
const stepEveryMs = 50
const retryMs = 1000
const pollEveryMs = 5000
// Ids consist of prefix, time and random part; no random part sorts after this one.
const idEnd = 'zzzzzzzzzzzzzzzz'

export interface ReplayDeps {
  readonly store: Store
  readonly clock: Clock
  readonly after: (ms: number, call: () => void) => () => void
  /** Like `after`, but may call earlier than asked. */
  readonly afterAtMost: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
}

/** Sends deliveries again, whatever their state, with the same ids and the same bytes. */
export class Replay {
  readonly missed: DeliveryFilter = { states: ['dead', 'skipped'] }
  readonly #deps: ReplayDeps
  #isStopped = false
  #cancelPoll: (() => void) | undefined
  #working: Promise<void> | undefined
  /** Whether a replay was started during a search, which may have missed that replay. */
  #startedMeanwhile = false

  constructor(deps: ReplayDeps) {
    this.#deps = deps
  }

  /** Counts the deliveries that a filter matches now, except those to disabled or deleted endpoints. */
  async count(organizationId: string, filter: DeliveryFilter): Promise<number> {
    return await deliveries.count(this.#deps.store.slowReads, organizationId, sendable(filter))
  }

  /**
   * Sends one delivery again now, whatever its state. Throws `not_found`, or `conflict` if the endpoint is disabled.
   */
  async one(organizationId: string, deliveryId: string, actor: Actor): Promise<void> {
    await this.#deps.store.transaction(async (tx) => {
      await organizationHeads.lockHead(tx, organizationId)
      const delivery = await deliveries.find(tx, organizationId, deliveryId)
      if (!delivery) throw new Problem('not_found', 'There is no such delivery.')
      await refuseDisabled(tx, organizationId, delivery.endpointId)
      await deliveries.requeue(tx, { organizationId, ids: [deliveryId] })
      tx.audit({
        ...{ organizationId, actor, action: 'webhook.delivery_replayed' },
        subject: { kind: 'delivery', id: deliveryId },
        detail: { endpoint_id: delivery.endpointId, event_id: delivery.eventId },
      })
      tx.changed({ kind: 'delivery', organizationId, endpointIds: 'all' })
    })
  }

  /**
   * Starts an operation that sends matching deliveries again, except those to disabled or deleted endpoints. Throws
   * `conflict` or `not_found` if the filter names such an endpoint.
   */
  async start(
    organizationId: string,
    filter: DeliveryFilter,
    actor: Actor,
  ): Promise<OperationRecord> {
    const { store, clock } = this.#deps
    const total = await this.count(organizationId, filter)
    const started = await store.transaction(async (tx) => {
      if (filter.endpointId !== undefined) {
        await refuseDisabled(tx, organizationId, filter.endpointId)
      }
      const operation = await operations.insert(tx, {
        ...{ id: createId('op', clock.now()), organizationId, kind, total },
        parameters: { filter, up_to: createId('dlv', tx.now).slice(0, -idEnd.length) + idEnd },
        createdBy: actor.id,
        createdByName: actor.name,
      })
      tx.audit({
        ...{ organizationId, actor, action: 'webhook.replay_started' },
        subject: { kind: 'operation', id: operation.id },
        detail: { filter, deliveries: operation.total },
      })
      return operation
    })
    this.resume()
    return started
  }

  /** Continues running operations, including those from before a restart. */
  resume(): void {
    this.#startedMeanwhile = this.#working !== undefined
    if (this.#isStopped || this.#working) return
    this.#cancelPoll?.()
    let nextMs = pollEveryMs
    this.#working = this.#work()
      .catch((error: unknown) => {
        this.#deps.onError(error)
        nextMs = retryMs
      })
      .finally(() => {
        this.#working = undefined
        if (this.#isStopped) return
        const waitMs = this.#startedMeanwhile ? 0 : nextMs
        this.#cancelPoll = this.#deps.afterAtMost(waitMs, () => this.resume())
      })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelPoll?.()
    await this.#working
  }

  async #work(): Promise<void> {
    const { store, after } = this.#deps
    const failed = new Map<string, unknown>()
    for (;;) {
      const listed = await operations.listRunning(store, kind)
      const running = listed.filter(({ id }) => !failed.has(id))
      if (running.length === 0 || this.#isStopped) break
      // The operations take turns, one step each, so that a large operation does not delay a small one.
      for (const operation of running) {
        if (this.#isStopped) return
        try {
          await this.#step(operation)
        } catch (error) {
          // The operation is retried after the others, so that it delays none of them.
          failed.set(operation.id, error)
        }
      }
      await new Promise<void>((resolve) => void after(stepEveryMs, resolve))
    }
    for (const error of failed.values()) throw error
  }

  async #step(operation: OperationRecord): Promise<void> {
    const { store } = this.#deps
    const { organizationId } = operation
    const { filter: chosen, up_to: upTo } = operation.parameters as {
      filter: DeliveryFilter
      up_to: string
    }
    const filter = sendable(chosen)
    const page = { after: operation.cursor, upTo, limit: deliveriesInStep }
    // With a narrow filter this query may scan many rows, so it runs outside the transaction, whose locks others wait
    // for.
    const found = await deliveries.idsAfter(store.slowReads, { organizationId, filter }, page)
    const cursor = found.at(-1) ?? operation.cursor
    const finished = found.length < deliveriesInStep
    await store.transaction(async (tx) => {
      // The lock keeps endpoints from being disabled while their deliveries become pending; such deliveries would wait
      // forever.
      await organizationHeads.lockHead(tx, organizationId)
      const ids = await deliveries.idsAmong(tx, { organizationId, filter }, found)
      // The cursor moves in the same transaction, so a step counts once however often a node dies.
      const mine = await operations.advance(tx, operation, { cursor, done: ids.length, finished })
      if (!mine) return
      await deliveries.requeue(tx, { organizationId, ids }, operation.id)
      if (ids.length > 0) tx.changed({ kind: 'delivery', organizationId, endpointIds: 'all' })
    })
  }
}

function sendable(filter: DeliveryFilter): DeliveryFilter {
  return { ...filter, onlyToEnabled: true }
}

async function refuseDisabled(tx: Tx, organizationId: string, endpointId: string): Promise<void> {
  const endpoint = await endpoints.find(tx, organizationId, endpointId)
  if (!endpoint) throw new Problem('not_found', 'The endpoint is deleted.')
  if (endpoint.health.state === 'disabled') {
    throw new Problem('conflict', 'The endpoint is disabled: enable it first.')
  }
}
