import { createId } from '../../ids.ts'
import type { AttemptOutcome, DueDelivery } from '../../store/index.ts'
import type { AttemptVerdict } from './endpoint-health.ts'
import { nextAttemptAt } from './schedule.ts'
import type { SendResult } from './send.ts'
import { dayMs } from '../../units.ts'

const maxPacedMs = 5 * dayMs

/** Judges an endpoint by one attempt: only 2xx counts as success. */
export function verdictOf(result: SendResult): AttemptVerdict {
  const { status } = result
  return {
    succeeded: status !== undefined && status >= 200 && status < 300,
    // RFC 6585, section 4: the receiver says when it will accept more.
    paced: status === 429 && result.retryAfterMs !== undefined,
    gone: status === 410,
    asksToDisable: result.asksToDisable,
  }
}

/**
 * A failed probe of a held endpoint is no failure of the delivery, nor is a 429 with Retry-After while the delivery is
 * less than five days old.
 */
export function outcomeOf(
  delivery: DueDelivery,
  result: SendResult,
  circumstances: { probe: boolean; nowMs: number; random: () => number },
): AttemptOutcome {
  const { probe, nowMs, random } = circumstances
  const verdict = verdictOf(result)
  const paced = verdict.paced && nowMs - delivery.createdAt < maxPacedMs
  const common = {
    id: createId('att', result.startedAt),
    delivery,
    probe,
    paced,
    retryAfterMs: result.retryAfterMs,
    startedAt: result.startedAt,
    durationMs: result.durationMs,
    status: result.status,
    failure: result.failure,
    responseBody: result.body,
    responseTruncated: result.truncated,
  }
  if (verdict.succeeded) return { ...common, state: 'delivered', dueAt: delivery.dueAt }
  if (probe || paced) return { ...common, state: 'pending', dueAt: delivery.dueAt }
  const next = nextAttemptAt(delivery.attempts + 1, {
    ...{ nowMs, random },
    retryAfterMs: result.retryAfterMs,
  })
  if (next === undefined) return { ...common, state: 'dead', dueAt: delivery.dueAt }
  return { ...common, state: 'pending', dueAt: next }
}
