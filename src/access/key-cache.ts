import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { KeyId, OrganizationId } from '../ids.ts'
import { digest } from '../secrets/index.ts'
import { everything, FeedCache, keyLookUp, type Store } from '../store/index.ts'
import { challenge, invalid, type PresentedKey } from './credential.ts'
import { readOrganizationRate } from './rates/organization-rate.ts'
import type { KeyPrincipal } from './principal.ts'
import type { Scheme } from './schemes.ts'

/** Tells who is calling by an API key; remembers keys that are in use. */
export interface KeyCache {
  /**
   * The principal of a presented key. Answers without waiting when the key is remembered and the change feed is
   * current; else reads the database. `credential_invalid`, `credential_revoked`, `credential_expired` (401),
   * `credential_unverifiable` (503). `beforeReading` is called before the database is asked, and may refuse that.
   */
  identify(
    presented: PresentedKey,
    beforeReading?: () => void,
  ): KeyPrincipal | Promise<KeyPrincipal>
  /** The refusal that a principal's key and secret would get now; undefined while they are good. Reads the database. */
  recheck(principal: KeyPrincipal): Promise<Problem | undefined>
  /** Calls back when anything about a key has changed (or, with undefined, when everything may have). */
  onChange(heard: (keyId: KeyId | undefined) => void): void
  /** How many keys are remembered. */
  readonly size: number
}

/** A cache of at most `capacity` keys; the longest remembered are forgotten first. */
export function createKeyCache(deps: {
  store: Store
  clock: Clock
  enabledSchemes: readonly Scheme[]
  capacity: number
}): KeyCache {
  const { store, clock, enabledSchemes } = deps
  const revoked = new WeakSet<KeyPrincipal>()
  // One copy of what an organization's keys have in common.
  const commonOf = new Map<OrganizationId, Common>()
  // A clock that is set back revives no key that has ended, as little as it does a session.
  let latestMs = 0

  // By digest, so that nothing secret is kept.
  const cache = new FeedCache<KeyPrincipal>({
    feed: store.feed,
    capacity: deps.capacity,
    read,
    subjectsOf: ({ keyId }) => keyId,
    forgets: {
      key: ({ subjectId }) => subjectId,
      organization: () => everything,
    },
  })
  cache.onChange((change) => {
    if (change?.kind !== 'key') commonOf.clear()
  })

  function identify(
    presented: PresentedKey,
    beforeReading?: () => void,
  ): KeyPrincipal | Promise<KeyPrincipal> {
    const keyDigest = digest(presented.text)
    const known = cache.peek(keyDigest)
    if (known) return admit(known)
    beforeReading?.()
    return readAndAdmit(keyDigest)
  }

  async function recheck(principal: KeyPrincipal): Promise<Problem | undefined> {
    try {
      await readAndAdmit(principal.digest)
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  function admit(known: KeyPrincipal): KeyPrincipal {
    if (revoked.has(known)) {
      throw new Problem('credential_revoked', 'The API key was revoked.', {
        headers: challenge(enabledSchemes),
      })
    }
    const { expiresAt } = known
    if (expiresAt !== undefined && expiresAt <= now()) {
      throw new Problem('credential_expired', 'The API key has expired.', {
        headers: challenge(enabledSchemes),
      })
    }
    return known
  }

  function now(): number {
    latestMs = Math.max(latestMs, clock.now())
    return latestMs
  }

  async function readAndAdmit(keyDigest: string): Promise<KeyPrincipal> {
    const found = await cache.read(keyDigest)
    if (!found) throw invalid(enabledSchemes)
    return admit(found)
  }

  async function read(keyDigest: string): Promise<KeyPrincipal | undefined> {
    try {
      const found = await keyLookUp.findByDigest(store, keyDigest)
      return found && fromRecords(keyDigest, found)
    } catch (cause) {
      throw new Problem(
        'credential_unverifiable',
        'The API key cannot be verified at the moment. Try again shortly.',
        { cause, headers: { 'Retry-After': '1' } },
      )
    }
  }

  function commonFor({ key, organizationSlug, organizationSettings }: Found): Common {
    const known = commonOf.get(key.organizationId)
    if (known?.organizationSlug === organizationSlug && known.settings === organizationSettings) {
      return known
    }
    const settings = JSON.parse(organizationSettings) as Record<string, unknown>
    const common = {
      organizationId: key.organizationId,
      organizationSlug,
      settings: organizationSettings,
      organizationRate: readOrganizationRate(settings),
    }
    commonOf.set(key.organizationId, common)
    return common
  }

  function fromRecords(keyDigest: string, found: Found): KeyPrincipal {
    const { key, secret } = found
    const { organizationId, organizationSlug, organizationRate } = commonFor(found)
    const principal = {
      kind: 'key',
      organizationId,
      organizationSlug,
      keyId: key.id,
      name: key.name,
      hint: secret.hint,
      scheme: key.scheme === 'bearer' ? 'bearer' : 'x-api-key',
      digest: keyDigest,
      isOldSecret: secret.validUntil !== undefined,
      grants: key.grants,
      cidrs: key.cidrs,
      rateLimit: key.rateLimit,
      organizationRate,
      quota: key.quota,
      personalUserId: key.personalUserId,
      expiresAt: earlier(key.expiresAt, secret.validUntil),
    } satisfies KeyPrincipal
    if (key.revokedAt !== undefined || key.suspendedAt !== undefined) revoked.add(principal)
    return principal
  }

  return {
    identify,
    recheck,
    onChange: (heard) =>
      void cache.onChange((change) => heard(change?.kind === 'key' ? change.subjectId : undefined)),
    get size() {
      return cache.size
    },
  }
}

type Found = keyLookUp.FoundKey

interface Common extends Pick<
  KeyPrincipal,
  'organizationId' | 'organizationSlug' | 'organizationRate'
> {
  /** The settings that it was read from. */
  readonly settings: string
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
