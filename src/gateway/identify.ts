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
import type { Clock, Moment } from '../clock.ts'
import { Problem } from '../errors.ts'
import { digestBytes, type DigestBytes } from '../secrets/index.ts'
import type { Exchange } from '../http/index.ts'
import type { Rate } from '../rate.ts'

type Head = Pick<
  Exchange['head'],
  'apiKey' | 'apiKeyCount' | 'authorization' | 'authorizationCount'
> & { keyDigest?: DigestBytes | undefined }

/** The caller, or why the request is refused; frequent refusals are returned, because throwing one costs too much. */
export type Identified = KeyPrincipal | Problem

/**
 * Identifies the caller from a request's head and address; refuses with 400, 401, 429 or 503. `moment` must
 * have been taken after the caller's last await.
 */
export type Identify = (
  head: Head,
  address: string,
  moment: Moment,
) => Identified | Promise<Identified>

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

  /** Returns the failure itself, or 429 if there were too many; later if other nodes' counts matter too. */
  function refuse(address: string, failure: Problem): Problem | Promise<Problem> {
    if (!guesses.has(failure.code)) return failure
    const counted = failures.failed(address)
    return counted instanceof Promise
      ? counted.then((retrySeconds) => refusalOf(failure, retrySeconds))
      : refusalOf(failure, counted)
  }

  async function settle(found: Promise<KeyPrincipal>, address: string): Promise<Identified> {
    try {
      return await found
    } catch (error) {
      if (error instanceof Problem) return await refuse(address, error)
      throw error
    }
  }

  return (head, address, moment) => {
    const atHand = head.keyDigest ?? digestAtHand(head, enabledSchemes)
    const cached = atHand && keyCache.known(atHand, moment)
    if (cached) return cached
    const presented = present(head, enabledSchemes)
    if (presented instanceof Problem) return refuse(address, presented)
    const keyDigest = atHand ?? digestBytes(presented.text)
    const known = atHand === undefined ? keyCache.known(keyDigest, moment) : undefined
    if (known) return known
    // A source over its limit may make few look-ups. Only keys that this node has not cached get this far.
    const retrySeconds = failures.beforeLookUp(address)
    if (retrySeconds !== undefined) return tooManyFailures(retrySeconds)
    const found = keyCache.identify({ ...presented, digest: keyDigest })
    return found instanceof Promise ? settle(found, address) : found
  }
}

function refusalOf(failure: Problem, retrySeconds: number | undefined): Problem {
  return retrySeconds === undefined ? failure : tooManyFailures(retrySeconds)
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
function digestAtHand(head: Head, enabled: readonly Scheme[]): DigestBytes | undefined {
  const atHand = keyAtHand(head, enabled)
  if (atHand !== undefined) head.keyDigest = digestBytes(atHand)
  return head.keyDigest
}

function present(head: Head, enabled: readonly Scheme[]): PresentedKey | Problem {
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

const tooMany = new Map<number, Problem>()
const maxTooMany = 100

/** Returns a refusal that all requests share that must wait equally long, because strangers cause it often. */
function tooManyFailures(retrySeconds: number): Problem {
  const known = tooMany.get(retrySeconds)
  if (known !== undefined) return known
  const problem = new Problem(
    'rate_limited',
    'Too many failed credentials came from your address.',
    { headers: { 'Retry-After': String(retrySeconds) } },
  )
  if (tooMany.size >= maxTooMany) tooMany.clear()
  tooMany.set(retrySeconds, Object.freeze(problem))
  return problem
}
