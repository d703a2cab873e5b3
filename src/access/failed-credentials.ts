import type { Clock } from '../clock.ts'
import { sourceOf } from '../http/message/index.ts'
import { RateLimiter, type Rate } from '../rate.ts'

const maxSources = 100_000

/** What varies. */
export interface FailedCredentialsDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How many failures a source may have; undefined: nothing is limited. */
  readonly failures: Rate | undefined
  /** Look-ups that sources over their limit may still cost this node together: a good credential gets in. */
  readonly spare?: Rate | undefined
  /** This node's part of the limit, above 0 and up to 1, so that all nodes together keep one limit. */
  readonly part?: (() => number) | undefined
}

/**
 * Limits failed credentials per source (docs/decisions/014): keys, SCIM tokens and sign-ins alike. Nothing is written:
 * strangers make no rows. Each method returns undefined if all is well, else the seconds after which to try again.
 */
export class FailedCredentials {
  readonly #deps: FailedCredentialsDeps
  readonly #failed = new RateLimiter(maxSources)
  readonly #spare = new RateLimiter()

  constructor(deps: FailedCredentialsDeps) {
    this.#deps = deps
  }

  /** Asks before a look-up; nothing is counted for a source below its limit. */
  beforeLookUp(address: string): number | undefined {
    const { failures, spare, clock } = this.#deps
    if (failures === undefined) return undefined
    const verdict = this.#ask(failures, address, false)
    if (verdict.admitted) return undefined
    // Whoever floods from behind the same address keeps nobody out for good.
    const isSpared =
      spare !== undefined && this.#spare.ask('all', spare, clock.monotonic(), true).admitted
    return isSpared ? undefined : Math.max(1, verdict.retrySeconds)
  }

  /** Counts a failure. */
  failed(address: string): number | undefined {
    const { failures } = this.#deps
    if (failures === undefined) return undefined
    const verdict = this.#ask(failures, address, true)
    return verdict.admitted ? undefined : Math.max(1, verdict.retrySeconds)
  }

  #ask(failures: Rate, address: string, spend: boolean) {
    const { clock, part } = this.#deps
    // Less than one failure at once would be none for ever.
    const share = Math.max(part?.() ?? 1, 1 / (failures.burst ?? failures.calls))
    return this.#failed.ask(sourceOf(address), failures, clock.monotonic(), spend, share)
  }
}
