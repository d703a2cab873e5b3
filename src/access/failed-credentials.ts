import type { Clock } from '../clock.ts'
import { sourceOf } from '../http/message/index.ts'
import { RateLimiter, type Rate } from '../rate.ts'
import type { RateSubject } from './rates/holding.ts'
import type { SharedRates } from './rates/shared-rates.ts'

const maxSources = 100_000
/** What the nodes divide evenly among them, of which nothing is written: most sources never need more. */
const evenPart = 1 / 4

/** What varies. */
export interface FailedCredentialsDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How many failures a source may have; undefined: nothing is limited. */
  readonly failures: Rate | undefined
  /** Look-ups that sources over their limit may still cost this node together: a good credential gets in. */
  readonly spare?: Rate | undefined
  /** The other nodes, and what is counted together with them; left out: this node counts alone. */
  readonly shared?: SharedSources | undefined
}

export interface SharedSources {
  readonly rates: Pick<SharedRates, 'isShared' | 'part' | 'known' | 'ask' | 'spend'>
  /** Kinds of credentials are counted each by itself. */
  readonly kind: string
}

/**
 * Limits failed credentials per source (docs/decisions/014): keys, SCIM tokens and sign-ins alike. All nodes keep one
 * limit together: a part of it is divided evenly, the rest goes where a source fails. Each method gives undefined if
 * all is well, else the seconds after which to try again.
 */
export class FailedCredentials {
  readonly #deps: FailedCredentialsDeps
  readonly #failed = new RateLimiter(maxSources)
  readonly #spare = new RateLimiter()

  constructor(deps: FailedCredentialsDeps) {
    this.#deps = deps
  }

  /** Asks before a look-up; nothing is counted for a source below its limit, and nobody is waited for. */
  beforeLookUp(address: string): number | undefined {
    const { failures, spare, clock } = this.#deps
    if (failures === undefined) return undefined
    const source = sourceOf(address)
    const here = this.#askHere(source, failures, false)
    const verdict =
      here?.admitted === true ? here : (this.#knownElsewhere(source, failures) ?? here)
    if (verdict === undefined || verdict.admitted) return undefined
    // Whoever floods from behind the same address keeps nobody out for good.
    const isSpared =
      spare !== undefined && this.#spare.ask('all', spare, clock.monotonic(), true).admitted
    return isSpared ? undefined : Math.max(1, verdict.retrySeconds)
  }

  /** Counts a failure; a promise where other nodes have to be asked for room. */
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

  /** What this node may count without asking anybody; undefined where that is less than one failure. */
  #askHere(source: string, failures: Rate, spend: boolean) {
    const share = this.#evenShare(failures)
    if (share === 0) return undefined
    return this.#failed.ask(source, failures, this.#deps.clock.monotonic(), spend, share)
  }

  #knownElsewhere(source: string, failures: Rate) {
    const { shared } = this.#deps
    if (shared?.rates.isShared !== true) return undefined
    const subject = subjectOf(shared, source)
    // Nothing is known of a source that has not failed here beyond this node's own part.
    return shared.rates.known(subject, this.#rest(failures)) ?? wellSoFar
  }

  #evenShare(failures: Rate): number {
    const { shared } = this.#deps
    if (shared?.rates.isShared !== true) return 1
    const share = evenPart * shared.rates.part()
    return share * (failures.burst ?? failures.calls) < 1 ? 0 : share
  }

  /** What the nodes give each other as it is needed. */
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
      // Spent in the turn that saw the room for it.
      rates.spend(subject, rate)
      return undefined
    }
  } catch {
    // The database is away: the failure is told as what it is, and look-ups are refused by what this node holds.
    return undefined
  }
}

function subjectOf({ kind }: SharedSources, source: string): RateSubject {
  return { id: `${kind}_failures_of_${source}`, organizationId: 'system', isSource: true }
}
