import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { sourceOf } from '../http/index.ts'
import { RateLimiter, type Rate } from '../targets/index.ts'
import { ScimError, tooMany } from './protocol/errors.ts'

/** Look-ups a second that sources over their limit may still cost this node together: a good token gets in. */
const spareReads: Rate = { calls: 200, perSeconds: 1 }

/** Limits wrong tokens per source, as wrong API keys are (docs/decisions/014). */
export interface GuessLimit {
  /** Does a look-up of a token for an address; its 401s are counted, and are 429s beyond the limit. */
  watch<T>(address: string, lookUp: () => Promise<T>): Promise<T>
}

/** Opens the limit; without a rate nothing is limited. */
export function createGuessLimit(needs: {
  readonly clock: Clock
  readonly failures: Rate | undefined
}): GuessLimit {
  const { clock, failures } = needs
  const failed = new RateLimiter(100_000)
  const spare = new RateLimiter()
  return {
    async watch(address, lookUp) {
      if (failures === undefined) return await lookUp()
      const source = sourceOf(address)
      const before = failed.ask(source, failures, clock.monotonic(), false)
      if (!before.admitted && !spare.ask('all', spareReads, clock.monotonic(), true).admitted) {
        throw tooMany(before.retrySeconds)
      }
      try {
        return await lookUp()
      } catch (error) {
        if (!isGuess(error)) throw error
        const verdict = failed.ask(source, failures, clock.monotonic(), true)
        throw verdict.admitted ? error : tooMany(verdict.retrySeconds)
      }
    },
  }
}

function isGuess(error: unknown): boolean {
  return (error instanceof Problem || error instanceof ScimError) && error.status === 401
}
