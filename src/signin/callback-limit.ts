import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { sourceOf } from '../http/index.ts'
import { RateLimiter, type Rate } from '../targets/index.ts'

/** Ends of sign-ins a second that sources over their limit may still cost this node together: a good one gets in. */
const spareEnds: Rate = { calls: 20, perSeconds: 1 }

/** Limits per source how many sign-ins may fail, as wrong API keys are limited (docs/decisions/014). */
export interface CallbackLimit {
  /**
   * Ends a sign-in for an address: `open` costs nothing, `finish` may write rows and call a provider. Refusals of both
   * are counted, and beyond the limit 429 `rate_limited`; who signs in well is never counted.
   */
  watch<Opened, T>(
    address: string,
    open: () => Opened,
    finish: (opened: Opened) => Promise<T>,
  ): Promise<T>
}

/** Opens the limit; without a rate nothing is limited. */
export function createCallbackLimit(needs: {
  readonly clock: Clock
  readonly failures: Rate | undefined
}): CallbackLimit {
  const { clock, failures } = needs
  const failed = new RateLimiter(100_000)
  const spare = new RateLimiter()

  function checkSource(source: string, rate: Rate): void {
    const before = failed.ask(source, rate, clock.monotonic(), false)
    if (before.admitted) return
    // Whoever floods from behind the same address keeps nobody out for good.
    if (!spare.ask('all', spareEnds, clock.monotonic(), true).admitted) {
      throw tooMany(before.retrySeconds)
    }
  }

  return {
    async watch(address, open, finish) {
      if (failures === undefined) return await finish(open())
      const source = sourceOf(address)
      try {
        const opened = open()
        checkSource(source, failures)
        return await finish(opened)
      } catch (error) {
        if (!isFailure(error)) throw error
        const verdict = failed.ask(source, failures, clock.monotonic(), true)
        throw verdict.admitted ? error : tooMany(verdict.retrySeconds)
      }
    },
  }
}

/** Whether somebody's answer was at fault; a database that is away says nothing about who asked. */
function isFailure(error: unknown): boolean {
  return error instanceof Problem && error.status !== 429 && error.status !== 503
}

function tooMany(retrySeconds: number): Problem {
  return new Problem('rate_limited', 'Too many sign-ins from your address failed. Go on shortly.', {
    headers: { 'Retry-After': String(retrySeconds) },
  })
}
