import {
  FailedCredentials,
  readKey,
  type KeyPrincipal,
  type KeyCache,
  type PresentedKey,
  type Scheme,
} from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Rate } from '../rate.ts'
import type { Call } from './call.ts'

const spareReads: Rate = { calls: 200, perSeconds: 1 }

/** Tells who is calling: 400 401 429 503. */
export type Identify = (call: Call) => KeyPrincipal | Promise<KeyPrincipal>

/**
 * Identifies by the one key a request carries. Failures are limited per source; beyond the limit they cost no look-up
 * and are told 429. Keys that this node remembers never notice.
 */
export function createIdentify(deps: {
  keyCache: KeyCache
  enabledSchemes: readonly Scheme[]
  clock: Clock
  /** How many failures a source may have; undefined = no limit. */
  failures: Rate | undefined
  /** This node's part of that limit. */
  part?: (() => number) | undefined
}): Identify {
  const { keyCache, enabledSchemes } = deps
  const failures = new FailedCredentials({ ...deps, spare: spareReads })

  function noteFailure(call: Call, error: unknown): unknown {
    if (!(error instanceof Problem) || !guesses.has(error.code)) return error
    const retrySeconds = failures.failed(call.address)
    return retrySeconds === undefined ? error : tooManyFailures(retrySeconds)
  }

  // Called only for keys that this node does not remember.
  function mayRead(call: Call): void {
    const retrySeconds = failures.beforeLookUp(call.address)
    if (retrySeconds !== undefined) throw tooManyFailures(retrySeconds)
  }

  function present(call: Call): PresentedKey {
    const { head } = call.exchange
    try {
      return readKey(
        {
          xApiKey: valuesOf(head.apiKey, head.apiKeyCount),
          authorization: valuesOf(head.authorization, head.authorizationCount),
        },
        enabledSchemes,
      )
    } catch (error) {
      throw noteFailure(call, error)
    }
  }

  async function settle(call: Call, found: Promise<KeyPrincipal>): Promise<KeyPrincipal> {
    try {
      return await found
    } catch (error) {
      throw noteFailure(call, error)
    }
  }

  return (call) => {
    const presented = present(call)
    call.check = 'key'
    const found = keyCache.identify(presented, () => mayRead(call))
    return found instanceof Promise ? settle(call, found) : found
  }
}

/** Failures that may be guesses; a key that is merely over cannot be guessed. */
const guesses: ReadonlySet<string> = new Set([
  'credential_invalid',
  'credential_wrong_header',
  'credential_ambiguous',
])

const none: readonly string[] = []

/** One value as a list; more than one value only matters by its number. */
function valuesOf(value: string | undefined, count: number): readonly string[] {
  if (value === undefined) return none
  return count === 1 ? [value] : [value, value]
}

function tooManyFailures(retrySeconds: number): Problem {
  return new Problem('rate_limited', 'Too many failed credentials came from your address.', {
    headers: { 'Retry-After': String(retrySeconds) },
  })
}
