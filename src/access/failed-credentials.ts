import type { Clock } from '../clock.ts'
import { sourceOf } from '../http/message/index.ts'
import { RateLimiter, type Rate } from '../rate.ts'
import type { RateSubject } from './rates/holding.ts'
import type { SharedRates } from './rates/shared-rates.ts'

const maxSources = 100_000
/** The part of the limit that is divided evenly among the nodes; counting against it needs no database. */
const evenPart = 1 / 4

/**
 * The rate at which a node still looks up credentials of one kind for sources that are over their limits. These
 * look-ups cost about 10 ms of CPU a second on SQLite (docs/decisions/014).
 */
export const spareLookUps: Rate = { calls: 200, perSeconds: 1 }

export interface FailedCredentialsDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How many failures a source may have; undefined = no limit. */
  readonly failures: Rate | undefined
  /**
   * How many look-ups this node still makes for all sources over their limits together, so that valid credentials from
   * such a source can succeed; none if left out.
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
 * Limits failed credentials of one kind (keys, SCIM tokens, access tokens or sign-ins) per source; see
 * docs/decisions/014. All nodes share the limit: a part of it is divided evenly, and the rest goes to the nodes where a
 * source fails. Each method returns undefined if the source may go on, otherwise the number of seconds after which it
 * may try again.
 */
export class FailedCredentials {
  readonly #deps: FailedCredentialsDeps
  readonly #failed = new RateLimiter(maxSources)
  readonly #spare = new RateLimiter()

  constructor(deps: FailedCredentialsDeps) {
    this.#deps = deps
  }

  /**
   * Decides whether a credential from this source may be looked up. Counts nothing for a source below its limit, and
   * never waits for other nodes.
   */
  beforeLookUp(address: string): number | undefined {
    const { failures, spare, clock } = this.#deps
    if (failures === undefined) return undefined
    const source = sourceOf(address)
    const here = this.#askHere(source, failures, false)
    const verdict =
      here?.admitted === true ? here : (this.#knownElsewhere(source, failures) ?? here)
    if (verdict === undefined || verdict.admitted) return undefined
    // Without spare look-ups, an attacker could permanently lock out everybody else behind the same address.
    const isSpared =
      spare !== undefined && this.#spare.ask('all', spare, clock.monotonic(), true).admitted
    return isSpared ? undefined : Math.max(1, verdict.retrySeconds)
  }

  /**
   * Counts a failure. Returns a promise if this node's even share is used up and there are other nodes, because the
   * rest of the limit may need the database.
   */
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
    // A source that this node does not track counts as within its limit: either it has not recently failed here beyond
    // the even share, or too many sources are tracked already.
    return shared.rates.known(subject, this.#rest(failures)) ?? wellSoFar
  }

  #evenShare(failures: Rate): number {
    const { shared } = this.#deps
    if (shared?.rates.isShared !== true) return 1
    const share = evenPart * shared.rates.part()
    return share * (failures.burst ?? failures.calls) < 1 ? 0 : share
  }

  /**
   * Returns the part of the limit that nodes share according to demand: all of it if an even share is less than one
   * failure.
   */
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
  const limit = { subject: subjectOf(shared, source), rate }
  try {
    for (;;) {
      const verdict = rates.ask(limit)
      if (verdict instanceof Promise) {
        await verdict
        continue
      }
      if (!verdict.admitted) return Math.max(1, verdict.retrySeconds)
      // The share must be spent in the same event-loop turn as the verdict, or another failure could spend it too.
      rates.spend(limit)
      return undefined
    }
  } catch {
    // If the database is unavailable, the caller gets the ordinary refusal. Further look-ups are then limited only by
    // the shares that this node already has.
    return undefined
  }
}

function subjectOf({ kind }: SharedSources, source: string): RateSubject {
  return { id: `${kind}_failures_of_${source}`, organizationId: 'system', isSource: true }
}
