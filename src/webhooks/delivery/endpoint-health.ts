import { minuteMs } from '../../units.ts'

const failuresToHold = 20
const probeFirstMs = minuteMs
const probeMostMs = 60 * minuteMs
const withoutSuccessMs = 5 * 24 * 60 * minuteMs

/**
 * `active`: deliveries are sent · `held`: only probes are sent, the rest waits · `disabled`: events become skipped
 * deliveries.
 */
export type EndpointState = 'active' | 'held' | 'disabled'

export type DisabledReason = 'by_hand' | 'gone' | 'receiver_asked' | 'failing'

/** Times are milliseconds since 1970. */
export interface EndpointHealth {
  readonly state: EndpointState
  readonly disabledReason: DisabledReason | undefined
  /** Failed attempts; set to 0 by a success, by enabling, and by a 429 with Retry-After that ends a hold. */
  readonly failures: number
  /** The time of the first failure or 429 since the last success, or since the endpoint was enabled. */
  readonly failingSince: number | undefined
  readonly lastSuccessAt: number | undefined
  readonly heldAt: number | undefined
  /**
   * When a held endpoint is probed next. If that probe fails, the next delay is twice `probeDelayMs`, up to an hour.
   */
  readonly probeAt: number | undefined
  readonly probeDelayMs: number | undefined
}

export const freshHealth: EndpointHealth = {
  state: 'active',
  disabledReason: undefined,
  failures: 0,
  failingSince: undefined,
  lastSuccessAt: undefined,
  heldAt: undefined,
  probeAt: undefined,
  probeDelayMs: undefined,
}

export interface AttemptVerdict {
  readonly succeeded: boolean
  /** 429 with Retry-After: the receiver is alive and limits the rate. */
  readonly paced: boolean
  /** 410 Gone. */
  readonly gone: boolean
  /** The response had `webhook-delivery: disable`. */
  readonly asksToDisable: boolean
}

/**
 * Returns an endpoint's health after an attempt that ended at `nowMs`. When `failures` reaches 20, the endpoint is held
 * and then probed after 1, 2, 4 … 60 minutes. A 429 with Retry-After is no failure. The endpoint is disabled by 410, by
 * `webhook-delivery: disable`, or by a failure or 429 at least five days after `failingSince`.
 */
export function healthAfter(
  health: EndpointHealth,
  verdict: AttemptVerdict,
  nowMs: number,
): EndpointHealth {
  if (health.state === 'disabled') return health
  if (verdict.asksToDisable) return disabled(after(health, verdict, nowMs), 'receiver_asked')
  if (verdict.succeeded) return after(health, verdict, nowMs)
  if (verdict.paced) return paced(health, nowMs)
  const failed = after(health, verdict, nowMs)
  if (verdict.gone) return disabled(failed, 'gone')
  if (nowMs - (failed.failingSince ?? nowMs) >= withoutSuccessMs) return disabled(failed, 'failing')
  if (failed.state === 'held') return probedInVain(failed, nowMs)
  return failed.failures >= failuresToHold ? held(failed, nowMs) : failed
}

export function disabled(health: EndpointHealth, reason: DisabledReason): EndpointHealth {
  return {
    ...health,
    state: 'disabled',
    disabledReason: reason,
    heldAt: undefined,
    probeAt: undefined,
    probeDelayMs: undefined,
  }
}

/** Moves a held endpoint's next probe to now; if that probe fails, the delay stays the same instead of doubling. */
export function probedNow(health: EndpointHealth, nowMs: number): EndpointHealth {
  if (health.state !== 'held' || (health.probeAt ?? nowMs) <= nowMs) return health
  return { ...health, probeAt: nowMs, probeDelayMs: (health.probeDelayMs ?? probeFirstMs) / 2 }
}

function after(health: EndpointHealth, verdict: AttemptVerdict, nowMs: number): EndpointHealth {
  if (verdict.succeeded) return { ...freshHealth, lastSuccessAt: nowMs }
  const failingSince = health.failingSince ?? nowMs
  return { ...health, failures: health.failures + 1, failingSince }
}

function paced(health: EndpointHealth, nowMs: number): EndpointHealth {
  const failingSince = health.failingSince ?? nowMs
  const failures = health.state === 'held' ? 0 : health.failures
  const now = { ...freshHealth, failures, lastSuccessAt: health.lastSuccessAt, failingSince }
  return nowMs - failingSince >= withoutSuccessMs ? disabled(now, 'failing') : now
}

function held(health: EndpointHealth, nowMs: number): EndpointHealth {
  return {
    ...health,
    state: 'held',
    heldAt: nowMs,
    probeAt: nowMs + probeFirstMs,
    probeDelayMs: probeFirstMs,
  }
}

/** Attempts that began before the endpoint was held count as failures, but must not postpone the probe. */
function probedInVain(health: EndpointHealth, nowMs: number): EndpointHealth {
  if (health.probeAt !== undefined && nowMs < health.probeAt) return health
  const probeDelayMs = Math.min((health.probeDelayMs ?? probeFirstMs) * 2, probeMostMs)
  return { ...health, probeAt: nowMs + probeDelayMs, probeDelayMs }
}
