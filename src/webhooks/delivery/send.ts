import type { Clock } from '../../clock.ts'
import type { Outbound } from '../../http/index.ts'
import { OutboundError } from '../../http/outbound/index.ts'
import type { DueDelivery } from '../../store/index.ts'
import { parseRetryAfter } from './schedule.ts'
import type { DeliverySigner } from '../signing/signatures.ts'

const usualDeadlineMs = 15_000
const readBytes = 64 * 1024
const keptBytes = 16 * 1024

/** An endpoint with its secrets unsealed, ready for sending. */
export interface PreparedEndpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly signer: DeliverySigner
}

export interface SendResult {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly durationMs: number
  /** The response's status; undefined if the request failed. */
  readonly status: number | undefined
  /** Why the request failed, for example because the response broke off; undefined if `status` is set. */
  readonly failure: string | undefined
  readonly body: Buffer | undefined
  readonly truncated: boolean
  readonly retryAfterMs: number | undefined
  /** The response had `webhook-delivery: disable`. */
  readonly asksToDisable: boolean
}

/** Makes one attempt; never rejects. */
export type Send = (
  endpoint: PreparedEndpoint,
  delivery: DueDelivery,
  signal: AbortSignal,
) => Promise<SendResult>

/** Each attempt is signed anew and may take `attemptMs` (15 s by default), including the response's body. */
export function createSend(deps: {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly attemptMs?: number | undefined
}): Send {
  const { outbound, clock, attemptMs: deadlineMs = usualDeadlineMs } = deps
  return async (endpoint, delivery, signal) => {
    const startedAt = clock.now()
    const start = clock.monotonic()
    const took = (): number => Math.round(clock.monotonic() - start)
    try {
      const answer = await outbound.request({
        url: endpoint.url,
        method: 'POST',
        headers: {
          ...endpoint.headers,
          'content-type': 'application/json',
          'user-agent': 'Intercept-Webhooks/1',
          ...endpoint.signer.sign(delivery.eventId, delivery.body, startedAt),
        },
        body: delivery.body,
        deadlineMs,
        maxResponseBytes: readBytes,
        signal,
        // Receivers of several organizations may share a host and port. The partition keeps an organization from using,
        // or waiting for, another's connections.
        partition: delivery.organizationId,
      })
      return {
        startedAt,
        durationMs: took(),
        status: answer.status,
        failure: undefined,
        body: answer.body.length === 0 ? undefined : answer.body.subarray(0, keptBytes),
        truncated: answer.truncated || answer.body.length > keptBytes,
        retryAfterMs: parseRetryAfter(one(answer.headers['retry-after']), clock.now()),
        asksToDisable: one(answer.headers['webhook-delivery'])?.trim().toLowerCase() === 'disable',
      }
    } catch (error) {
      return {
        startedAt,
        durationMs: took(),
        status: undefined,
        failure: error instanceof OutboundError ? `${error.kind}: ${error.message}` : 'internal',
        body: undefined,
        truncated: false,
        retryAfterMs: undefined,
        asksToDisable: false,
      }
    }
  }
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
