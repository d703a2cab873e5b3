import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { FailedCredentials, spareLookUps, type SharedRates } from '../access/index.ts'
import type { Rate } from '../rate.ts'
import { ScimError, tooMany } from './protocol/errors.ts'

/** Limits wrong tokens per source, like wrong API keys (docs/decisions/014). */
export interface GuessLimit {
  /**
   * Runs a token look-up for an address, and counts a 401 as a wrong token. An address over its limit gets a 429 for a
   * wrong token, and for every token once this node has no look-ups to spare (`spareLookUps`).
   */
  watch<T>(address: string, lookUp: () => Promise<T>): Promise<T>
}

/** Creates the limit; without a rate, nothing is limited. */
export function createGuessLimit(deps: {
  readonly clock: Clock
  readonly failures: Rate | undefined
  /** Shares the counts with the other nodes, so that all of them enforce one limit. */
  readonly rates?: SharedRates | undefined
}): GuessLimit {
  const shared = deps.rates && { rates: deps.rates, kind: 'scim' }
  const failures = new FailedCredentials({ ...deps, shared, spare: spareLookUps })
  return {
    async watch(address, lookUp) {
      const refusedFor = failures.beforeLookUp(address)
      if (refusedFor !== undefined) throw tooMany(refusedFor)
      try {
        return await lookUp()
      } catch (error) {
        if (!isGuess(error)) throw error
        const retrySeconds = await failures.failed(address)
        throw retrySeconds === undefined ? error : tooMany(retrySeconds)
      }
    },
  }
}

function isGuess(error: unknown): boolean {
  return (error instanceof Problem || error instanceof ScimError) && error.status === 401
}
