import {
  FailedCredentials,
  type SharedRates,
  keyAtHand,
  readKey,
  spareLookUps,
  type KeyPrincipal,
  type KeyCache,
  type PresentedKey,
  type Scheme,
} from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { digest } from '../secrets/index.ts'
import type { Exchange } from '../http/index.ts'
import type { Rate } from '../rate.ts'

type Head = Pick<
  Exchange['head'],
  'apiKey' | 'apiKeyCount' | 'authorization' | 'authorizationCount'
> & { keyDigest?: string | undefined }

/** Identifies the caller from a request's head and address; refuses with 400, 401, 429 or 503. */
export type Identify = (head: Head, address: string) => KeyPrincipal | Promise<KeyPrincipal>

/**
 * Limits failures per source: further failures of a source over its limit become 429, and all such sources share a few
 * look-ups in the database. Keys that this node has cached are not affected.
 */
export function createIdentify(deps: {
  keyCache: KeyCache
  enabledSchemes: readonly Scheme[]
  clock: Clock
  /** How many failures a source may cause; undefined means no limit. */
  failures: Rate | undefined
  /** Shares the limit among all nodes. */
  rates?: SharedRates | undefined
}): Identify {
  const { keyCache, enabledSchemes, rates } = deps
  const shared = rates && { rates, kind: 'key' }
  const failures = new FailedCredentials({ ...deps, shared, spare: spareLookUps })

  /**
   * Throws the failure itself, or 429 if there were too many. Rejects instead of throwing if other nodes' counts matter
   * too.
   */
  function refuse(address: string, error: unknown): Promise<never> {
    if (!(error instanceof Problem) || !guesses.has(error.code)) throw error
    const throwRefusal = (retrySeconds: number | undefined): never => {
      throw retrySeconds === undefined ? error : tooManyFailures(retrySeconds)
    }
    const counted = failures.failed(address)
    return counted instanceof Promise ? counted.then(throwRefusal) : throwRefusal(counted)
  }

  // Throws 429 if a source over its limit may make no more look-ups; called only for keys that this node has not
  // cached.
  function mayRead(address: string): void {
    const retrySeconds = failures.beforeLookUp(address)
    if (retrySeconds !== undefined) throw tooManyFailures(retrySeconds)
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
      const keyDigest = head.keyDigest ?? digestAtHand(head, enabledSchemes)
      const known = keyDigest && keyCache.known(keyDigest)
      if (known) return known
      presented = { ...present(head, enabledSchemes), digest: keyDigest }
    } catch (error) {
      return refuse(address, error)
    }
    const found = keyCache.identify(presented, () => mayRead(address))
    return found instanceof Promise ? settle(found, address) : found
  }
}

/**
 * The failures that count as guesses. An expired or revoked key does not count: whoever sends it has not guessed it.
 */
const guesses: ReadonlySet<string> = new Set([
  'credential_invalid',
  'credential_wrong_header',
  'credential_ambiguous',
])

/**
 * Returns the digest of a key that may be cached; undefined if `readKey` must read the key. The digest is stored in the
 * head, which later requests with the same header lines share.
 */
function digestAtHand(head: Head, enabled: readonly Scheme[]): string | undefined {
  const atHand = keyAtHand(head, enabled)
  if (atHand !== undefined) head.keyDigest = digest(atHand)
  return head.keyDigest
}

function present(head: Head, enabled: readonly Scheme[]): PresentedKey {
  const xApiKey = valuesOf(head.apiKey, head.apiKeyCount)
  const authorization = valuesOf(head.authorization, head.authorizationCount)
  return readKey({ xApiKey, authorization }, enabled)
}

const none: readonly string[] = []

/**
 * Returns a header's values as a list. If the header was sent several times, the list has the same value twice, because
 * the caller only needs to see that there was more than one.
 */
function valuesOf(value: string | undefined, count: number): readonly string[] {
  if (value === undefined) return none
  return count === 1 ? [value] : [value, value]
}

function tooManyFailures(retrySeconds: number): Problem {
  return new Problem('rate_limited', 'Too many failed credentials came from your address.', {
    headers: { 'Retry-After': String(retrySeconds) },
  })
}
