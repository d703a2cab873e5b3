import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { FailedCredentials, type SharedRates } from '../access/index.ts'
import type { Rate } from '../rate.ts'

const spareEnds: Rate = { calls: 20, perSeconds: 1 }

/** Limits how many sign-ins from one source address may fail, as wrong API keys are limited (docs/decisions/014). */
export interface CallbackLimit {
  /**
   * Runs `open`, which must be cheap, then `finish`, which may write rows and call a provider. For addresses over the
   * limit, `finish` runs only while the node has calls to spare (`spareEnds`).
   */
  watch<Opened, T>(
    address: string,
    open: () => Opened,
    finish: (opened: Opened) => Promise<T>,
  ): Promise<T>
}

/** Creates the limit; without a rate, nothing is limited. */
export function createCallbackLimit(deps: {
  readonly clock: Clock
  readonly failures: Rate | undefined
  /** Shares the counts with the other nodes, so that all of them enforce one limit. */
  readonly rates?: SharedRates | undefined
}): CallbackLimit {
  const shared = deps.rates && { rates: deps.rates, kind: 'sign_in' }
  const failures = new FailedCredentials({ ...deps, shared, spare: spareEnds })
  return {
    async watch(address, open, finish) {
      try {
        const opened = open()
        const refusedFor = failures.beforeLookUp(address)
        if (refusedFor !== undefined) throw tooMany(refusedFor)
        return await finish(opened)
      } catch (error) {
        if (!isFailure(error)) throw error
        const retrySeconds = await failures.failed(address)
        throw retrySeconds === undefined ? error : tooMany(retrySeconds)
      }
    },
  }
}

/** Whether an error counts as a failed sign-in; a database outage (503) is not the caller's failure. */
function isFailure(error: unknown): boolean {
  return error instanceof Problem && error.status !== 429 && error.status !== 503
}

function tooMany(retrySeconds: number): Problem {
  return new Problem('rate_limited', 'Too many sign-ins from your address failed. Go on shortly.', {
    headers: { 'Retry-After': String(retrySeconds) },
  })
}
