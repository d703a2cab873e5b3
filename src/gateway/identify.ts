import {
  FailedCredentials,
  type SharedRates,
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
  /** The other nodes, that keep the limit together with this one. */
  rates?: SharedRates | undefined
}): Identify {
  const { keyCache, enabledSchemes, rates } = deps
  const shared = rates && { rates, kind: 'key' }
  const failures = new FailedCredentials({ ...deps, shared, spare: spareReads })

  /** Tells a failure as what it is, or as one too many; at once, unless other nodes have to be asked. */
  function refuse(address: string, error: unknown): Promise<never> {
    if (!(error instanceof Problem) || !guesses.has(error.code)) throw error
    const told = (retrySeconds: number | undefined): never => {
      throw retrySeconds === undefined ? error : tooManyFailures(retrySeconds)
    }
    const counted = failures.failed(address)
    return counted instanceof Promise ? counted.then(told) : told(counted)
  }

  // Called only for keys that this node does not remember.
  function mayRead(address: string): void {
    const retrySeconds = failures.beforeLookUp(address)
    if (retrySeconds !== undefined) throw tooManyFailures(retrySeconds)
  }

  function present(head: Head): PresentedKey {
    return readKey(
      {
        xApiKey: valuesOf(head.apiKey, head.apiKeyCount),
        authorization: valuesOf(head.authorization, head.authorizationCount),
      },
      enabledSchemes,
    )
  }

  async function settle(found: Promise<KeyPrincipal>, address: string): Promise<KeyPrincipal> {
    try {
      return await found
    } catch (error) {
      return await refuse(address, error)
    }
  }

  return (head, address) => {
    let presented: PresentedKey
    try {
      presented = present(head)
    } catch (error) {
      return refuse(address, error)
    }
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
