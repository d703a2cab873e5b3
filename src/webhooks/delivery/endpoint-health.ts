const minuteMs = 60_000
const failuresToHold = 20
const probeFirstMs = minuteMs
const probeMostMs = 60 * minuteMs
const withoutSuccessMs = 5 * 24 * 60 * minuteMs

/** `active`: deliveries go out · `held`: only probes do, the rest waits · `disabled`: events become skipped deliveries. */
export type EndpointState = 'active' | 'held' | 'disabled'

/** Why an endpoint is disabled. */
export type DisabledReason = 'by_hand' | 'gone' | 'receiver_asked' | 'failing'

/** How an endpoint has been doing; times in milliseconds since 1970. */
export interface EndpointHealth {
  readonly state: EndpointState
  readonly disabledReason: DisabledReason | undefined
  /** Failed attempts since the last success. */
  readonly failures: number
  /** The first of them. */
  readonly failingSince: number | undefined
  readonly lastSuccessAt: number | undefined
  readonly heldAt: number | undefined
  /** When a held endpoint is tried next, and how long it waits after that. */
  readonly probeAt: number | undefined
  readonly probeDelayMs: number | undefined
}

/** The health of an endpoint that nothing was sent to. */
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

/** What an attempt says of its endpoint. */
export interface AttemptVerdict {
  readonly succeeded: boolean
  /** 429 with Retry-After: the receiver lives and sets its pace. */
  readonly paced: boolean
  /** 410 Gone. */
  readonly gone: boolean
  /** The answer's `webhook-delivery: disable`. */
  readonly asksToDisable: boolean
}

/**
 * An endpoint's health after an attempt that ended at `nowMs`. A receiver that sets its pace has not failed. 20 failures in a row hold it; a held one is probed after
 * 1, 2, 4 … 60 minutes and resumes with the first success; 410, `webhook-delivery: disable` or five days without a
 * success disable it. A disabled one stays so whatever still comes in.
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

/** The health after somebody switched the endpoint off. */
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

/** A held endpoint that somebody wants tried now; if that fails too, it waits as long as it did, not twice as long. */
export function probedNow(health: EndpointHealth, nowMs: number): EndpointHealth {
  if (health.state !== 'held' || (health.probeAt ?? nowMs) <= nowMs) return health
  return { ...health, probeAt: nowMs, probeDelayMs: (health.probeDelayMs ?? probeFirstMs) / 2 }
}

function after(health: EndpointHealth, verdict: AttemptVerdict, nowMs: number): EndpointHealth {
  if (verdict.succeeded) return { ...freshHealth, lastSuccessAt: nowMs }
  const failingSince = health.failingSince ?? nowMs
  return { ...health, failures: health.failures + 1, failingSince }
}

/** A held endpoint resumes; one that never accepts anything is given up as if it failed. */
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

/** Attempts that were under way when the endpoint was held end here too: they count, but move no probe. */
function probedInVain(health: EndpointHealth, nowMs: number): EndpointHealth {
  if (health.probeAt !== undefined && nowMs < health.probeAt) return health
  const probeDelayMs = Math.min((health.probeDelayMs ?? probeFirstMs) * 2, probeMostMs)
  return { ...health, probeAt: nowMs + probeDelayMs, probeDelayMs }
}
