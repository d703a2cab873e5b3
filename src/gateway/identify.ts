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
import type { Exchange } from '../http/index.ts'
import type { Rate } from '../rate.ts'

const spareReads: Rate = { calls: 200, perSeconds: 1 }

type Head = Pick<
  Exchange['head'],
  'apiKey' | 'apiKeyCount' | 'authorization' | 'authorizationCount'
>

/** Tells who is calling, by a request's head and the caller's address: 400 401 429 503. */
export type Identify = (head: Head, address: string) => KeyPrincipal | Promise<KeyPrincipal>

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

  function noteFailure(address: string, error: unknown): unknown {
    if (!(error instanceof Problem) || !guesses.has(error.code)) return error
    const retrySeconds = failures.failed(address)
    return retrySeconds === undefined ? error : tooManyFailures(retrySeconds)
  }

  // Called only for keys that this node does not remember.
  function mayRead(address: string): void {
    const retrySeconds = failures.beforeLookUp(address)
    if (retrySeconds !== undefined) throw tooManyFailures(retrySeconds)
  }

  function present(head: Head, address: string): PresentedKey {
    try {
      return readKey(
        {
          xApiKey: valuesOf(head.apiKey, head.apiKeyCount),
          authorization: valuesOf(head.authorization, head.authorizationCount),
        },
        enabledSchemes,
      )
    } catch (error) {
      throw noteFailure(address, error)
    }
  }

  async function settle(found: Promise<KeyPrincipal>, address: string): Promise<KeyPrincipal> {
    try {
      return await found
    } catch (error) {
      throw noteFailure(address, error)
    }
  }

  return (head, address) => {
    const presented = present(head, address)
    const found = keyCache.identify(presented, () => mayRead(address))
    return found instanceof Promise ? settle(found, address) : found
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
