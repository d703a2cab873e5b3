import type { Clock } from '../../clock.ts'
import { createId } from '../../ids.ts'
import { deliveries, events, webhookSecrets, type Store } from '../../store/index.ts'
import { dayMs } from '../../units.ts'

const rowsInStep = 500
const stepEveryMs = 20
const secretsKeptMs = 30 * dayMs
const randomDigits = 16

export interface RetentionResult {
  readonly deliveries: number
  readonly events: number
}

/**
 * Deletes deliveries created more than `keptMs` ago, unless they are pending, and events of that age that no remaining
 * delivery needs; also webhook secrets whose overlap ended more than 30 days ago. Works in small steps with pauses, so
 * that no other transaction waits for long.
 */
export async function removeOld(
  deps: {
    store: Store
    clock: Clock
    pause: (ms: number) => Promise<void>
    stopped: () => boolean
  },
  keptMs: number,
): Promise<RetentionResult> {
  const { store, clock, pause, stopped } = deps
  const before = clock.now() - keptMs
  // Ids sort by time: an id for `before`, cut off before its random digits, sorts below all ids of that millisecond and
  // above all older ones.
  const belowId = createId('dlv', before).slice(0, -randomDigits)

  async function inSteps(remove: () => Promise<number>): Promise<number> {
    let removed = 0
    while (!stopped()) {
      const step = await remove()
      removed += step
      if (step < rowsInStep) break
      await pause(stepEveryMs)
    }
    return removed
  }

  const removedDeliveries = await inSteps(
    async () =>
      await store.transaction(async (tx) => await deliveries.removeEnded(tx, belowId, rowsInStep)),
  )
  const removedEvents = await inSteps(
    async () =>
      await store.transaction(async (tx) => await events.removeOld(tx, before, rowsInStep)),
  )
  await store.transaction(
    async (tx) => await webhookSecrets.removeEnded(tx, tx.now - secretsKeptMs),
  )
  return { deliveries: removedDeliveries, events: removedEvents }
}
