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

/** Why an endpoint is disabled. */
export type DisabledReason = 'by_hand' | 'gone' | 'receiver_asked' | 'failing'

/** The health of an endpoint; times are milliseconds since 1970. */
export interface EndpointHealth {
  readonly state: EndpointState
  readonly disabledReason: DisabledReason | undefined
  /** Failed attempts since the last success, or since a 429 with Retry-After ended a hold. */
  readonly failures: number
  /** The time of the first failure since the last success; a 429 with Retry-After counts as a failure here. */
  readonly failingSince: number | undefined
  readonly lastSuccessAt: number | undefined
  readonly heldAt: number | undefined
  /** When a held endpoint is probed next, and the delay before that probe, which doubles if the probe fails. */
  readonly probeAt: number | undefined
  readonly probeDelayMs: number | undefined
}

/** The health of an endpoint to which nothing has been sent yet. */
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

/** What one attempt revealed about an endpoint. */
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
 * Returns an endpoint's health after an attempt that ended at `nowMs`. After 20 failures in a row the endpoint is held;
 * it is then probed after 1, 2, 4 … 60 minutes and resumes with the first success. A 429 with Retry-After is no
 * failure, and ends a hold too. The endpoint is disabled by 410, by `webhook-delivery: disable`, or by a failure or 429
 * at least five days after `failingSince`. It then stays disabled whatever arrives later.
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

/** Returns the health of an endpoint once it is disabled: no further probe is scheduled. */
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

/**
 * Returns the health after a 429 with Retry-After: a held endpoint resumes, but an endpoint that has not succeeded in
 * the five days since `failingSince` is disabled.
 */
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

/**
 * Schedules the next probe after one has failed. It is also called for attempts that began before the endpoint was
 * held: these count as failures, but don't postpone the probe.
 */
function probedInVain(health: EndpointHealth, nowMs: number): EndpointHealth {
  if (health.probeAt !== undefined && nowMs < health.probeAt) return health
  const probeDelayMs = Math.min((health.probeDelayMs ?? probeFirstMs) * 2, probeMostMs)
  return { ...health, probeAt: nowMs + probeDelayMs, probeDelayMs }
}
