import { createId } from '../../ids.ts'
import type { AttemptOutcome, DueDelivery } from '../../store/index.ts'
import type { AttemptVerdict } from './endpoint-health.ts'
import { nextAttemptAt } from './schedule.ts'
import type { SendResult } from './send.ts'

const maxPacedMs = 5 * 24 * 3_600_000

/** What an attempt says of the endpoint: only 2xx succeeds. */
export function verdictOf(result: SendResult): AttemptVerdict {
  const { status } = result
  return {
    succeeded: status !== undefined && status >= 200 && status < 300,
    // RFC 6585, section 4: the receiver says when it will take more.
    paced: status === 429 && result.retryAfterMs !== undefined,
    gone: status === 410,
    asksToDisable: result.asksToDisable,
  }
}

/**
 * What an attempt makes of its delivery: delivered, pending again at the schedule's next time, or dead after the tenth
 * failure. A probe of a held endpoint that fails leaves the delivery as it was, and so does a receiver that sets its
 * pace, until the delivery is as old as an endpoint may stay without a success.
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
