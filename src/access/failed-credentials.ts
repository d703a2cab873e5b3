import type { Clock } from '../clock.ts'
import { sourceOf } from '../http/message/index.ts'
import { RateLimiter, type Rate } from '../rate.ts'
import type { RateSubject } from './rates/holding.ts'
import type { SharedRates } from './rates/shared-rates.ts'

const maxSources = 100_000
/** The part of the limit that nodes divide evenly without writing anything; most sources never need more. */
const evenPart = 1 / 4

/** The dependencies of the limit. */
export interface FailedCredentialsDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How many failures a source may have; undefined = no limit. */
  readonly failures: Rate | undefined
  /**
   * How many look-ups this node still makes for all sources over their limit together, so that good credentials get in.
   */
  readonly spare?: Rate | undefined
  /** How to count together with other nodes; if left out, this node counts alone. */
  readonly shared?: SharedSources | undefined
}

export interface SharedSources {
  readonly rates: Pick<SharedRates, 'isShared' | 'part' | 'known' | 'ask' | 'spend'>
  /** The kind of credential; each kind is counted separately. */
  readonly kind: string
}

/**
 * Limits failed credentials per source (docs/decisions/014): keys, SCIM tokens and sign-ins alike. All nodes keep one
 * limit together: a part of it is divided evenly, and the rest goes to the nodes where a source fails. Each method
 * returns undefined, or the seconds after which a source over its limit may try again.
 */
export class FailedCredentials {
  readonly #deps: FailedCredentialsDeps
  readonly #failed = new RateLimiter(maxSources)
  readonly #spare = new RateLimiter()

  constructor(deps: FailedCredentialsDeps) {
    this.#deps = deps
  }

  /**
   * Decides before a look-up whether it may be made. Counts nothing for a source below its limit, and never waits for
   * other nodes.
   */
  beforeLookUp(address: string): number | undefined {
    const { failures, spare, clock } = this.#deps
    if (failures === undefined) return undefined
    const source = sourceOf(address)
    const here = this.#askHere(source, failures, false)
    const verdict =
      here?.admitted === true ? here : (this.#knownElsewhere(source, failures) ?? here)
    if (verdict === undefined || verdict.admitted) return undefined
    // Spare look-ups keep an attacker from locking out others behind the same address for good.
    const isSpared =
      spare !== undefined && this.#spare.ask('all', spare, clock.monotonic(), true).admitted
    return isSpared ? undefined : Math.max(1, verdict.retrySeconds)
  }

  /** Counts a failure; returns a promise if this node must first get a share of the limit. */
  failed(address: string): number | undefined | Promise<number | undefined> {
    const { failures, shared } = this.#deps
    if (failures === undefined) return undefined
    const source = sourceOf(address)
    const here = this.#askHere(source, failures, true)
    if (here?.admitted === true) return undefined
    if (shared?.rates.isShared === true)
      return failedElsewhere(shared, source, this.#rest(failures))
    return Math.max(1, here?.retrySeconds ?? 1)
  }

  /** Checks a source against this node's even share of the limit; undefined if that share is less than one failure. */
  #askHere(source: string, failures: Rate, spend: boolean) {
    const share = this.#evenShare(failures)
    if (share === 0) return undefined
    return this.#failed.ask(source, failures, this.#deps.clock.monotonic(), spend, share)
  }

  #knownElsewhere(source: string, failures: Rate) {
    const { shared } = this.#deps
    if (shared?.rates.isShared !== true) return undefined
    const subject = subjectOf(shared, source)
    // Without a share of the rest, this node has seen no failure beyond its even part.
    return shared.rates.known(subject, this.#rest(failures)) ?? wellSoFar
  }

  #evenShare(failures: Rate): number {
    const { shared } = this.#deps
    if (shared?.rates.isShared !== true) return 1
    const share = evenPart * shared.rates.part()
    return share * (failures.burst ?? failures.calls) < 1 ? 0 : share
  }

  /** The part of the limit that nodes share by demand. */
  #rest(failures: Rate): Rate {
    if (this.#evenShare(failures) === 0) return failures
    const { calls, perSeconds, burst = calls } = failures
    const part = 1 - evenPart
    return { calls: calls * part, perSeconds, burst: Math.floor(burst * part) }
  }
}

const wellSoFar = { admitted: true, retrySeconds: 0 }

async function failedElsewhere(
  shared: SharedSources,
  source: string,
  rate: Rate,
): Promise<number | undefined> {
  const { rates } = shared
  const subject = subjectOf(shared, source)
  try {
    for (;;) {
      const verdict = rates.ask(subject, rate)
      if (verdict instanceof Promise) {
        await verdict
        continue
      }
      if (!verdict.admitted) return Math.max(1, verdict.retrySeconds)
      // Must be spent in the same event-loop turn as the verdict, or another failure could spend it too.
      rates.spend(subject, rate)
      return undefined
    }
  } catch {
    // Without the database the caller gets the plain failure, and look-ups are limited by what this node holds.
    return undefined
  }
}

function subjectOf({ kind }: SharedSources, source: string): RateSubject {
  return { id: `${kind}_failures_of_${source}`, organizationId: 'system', isSource: true }
}
