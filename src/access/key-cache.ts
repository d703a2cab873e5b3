import { ForwardClock, type Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { KeyId, OrganizationId } from '../ids.ts'
import { digest } from '../secrets/index.ts'
import { everything, FeedCache, keyLookUp, type Store } from '../store/index.ts'
import { challenge, invalid, type PresentedKey } from './credential.ts'
import { keyPrincipal, type KeyPrincipal, type OrganizationPart } from './principal.ts'
import { readOrganizationRate } from './rates/organization-rate.ts'
import type { Scheme } from './schemes.ts'

/** Identifies callers by their API keys, and remembers keys that are in use. */
export interface KeyCache {
  /**
   * The principal of a remembered key by its digest, without waiting; undefined leaves it to `identify`, which needs a
   * well-formed key. Throws `credential_revoked`, `credential_expired` (401).
   */
  known(keyDigest: string): KeyPrincipal | undefined
  /**
   * Returns the principal of a presented key, without waiting if the key is remembered and the change feed is current;
   * otherwise it reads the database. Throws `credential_invalid`, `credential_revoked`, `credential_expired` (401), or
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

interface KeyCacheDeps {
  readonly store: Store
  readonly clock: Clock
  readonly enabledSchemes: readonly Scheme[]
  readonly capacity: number
}

/** A cache of at most `capacity` keys; the longest remembered are forgotten first. */
export function createKeyCache(deps: KeyCacheDeps): KeyCache {
  return new FeedKeyCache(deps)
}

class FeedKeyCache implements KeyCache {
  readonly #deps: KeyCacheDeps
  readonly #revoked = new WeakSet<KeyPrincipal>()
  readonly #organizations = new OrganizationParts()
  // Keyed by digest, so that no secret stays in memory.
  readonly #cache: FeedCache<KeyPrincipal>
  readonly #clock: ForwardClock

  constructor(deps: KeyCacheDeps) {
    this.#deps = deps
    this.#clock = new ForwardClock(deps.clock)
    this.#cache = new FeedCache<KeyPrincipal>({
      feed: deps.store.feed,
      capacity: deps.capacity,
      read: async (keyDigest) => await this.#read(keyDigest),
      subjectsOf: ({ keyId }) => keyId,
      forgets: {
        key: ({ subjectId }) => subjectId,
        organization: () => everything,
      },
    })
    this.#cache.onChange((change) => {
      if (change?.kind !== 'key') this.#organizations.clear()
    })
  }

  get size(): number {
    return this.#cache.size
  }

  known(keyDigest: string): KeyPrincipal | undefined {
    const known = this.#cache.peek(keyDigest)
    return known && this.#admit(known)
  }

  identify(
    presented: PresentedKey,
    beforeReading?: () => void,
  ): KeyPrincipal | Promise<KeyPrincipal> {
    const keyDigest = presented.digest ?? digest(presented.text)
    const known = this.#cache.peek(keyDigest)
    if (known) return this.#admit(known)
    beforeReading?.()
    return this.#readAndAdmit(keyDigest)
  }

  async recheck(principal: KeyPrincipal): Promise<Problem | undefined> {
    try {
      await this.#readAndAdmit(principal.digest)
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  onChange(heard: (keyId: KeyId | undefined) => void): void {
    this.#cache.onChange((change) => heard(change?.kind === 'key' ? change.subjectId : undefined))
  }

  #admit(known: KeyPrincipal): KeyPrincipal {
    if (this.#revoked.has(known)) {
      throw this.#refusal('credential_revoked', 'The API key was revoked.')
    }
    const { expiresAt } = known
    if (expiresAt !== undefined && expiresAt <= this.#clock.now()) {
      throw this.#refusal('credential_expired', 'The API key has expired.')
    }
    return known
  }

  #refusal(code: 'credential_revoked' | 'credential_expired', sentence: string): Problem {
    return new Problem(code, sentence, { headers: challenge(this.#deps.enabledSchemes) })
  }

  async #readAndAdmit(keyDigest: string): Promise<KeyPrincipal> {
    const found = await this.#cache.read(keyDigest)
    if (!found) throw invalid(this.#deps.enabledSchemes)
    return this.#admit(found)
  }

  async #read(keyDigest: string): Promise<KeyPrincipal | undefined> {
    try {
      const found = await keyLookUp.findByDigest(this.#deps.store, keyDigest)
      return found && this.#principalOf(keyDigest, found)
    } catch (cause) {
      throw new Problem(
        'credential_unverifiable',
        'The API key cannot be verified at the moment. Try again shortly.',
        { cause, headers: { 'Retry-After': '1' } },
      )
    }
  }

  #principalOf(keyDigest: string, found: keyLookUp.FoundKey): KeyPrincipal {
    const { key, secret } = found
    const { hint, validUntil } = secret
    // The same string as the cache's key, so that memory holds only one copy of it.
    const used = { digest: keyDigest, hint, validUntil }
    const principal = keyPrincipal(key, used, this.#organizations.of(found))
    if (key.revokedAt !== undefined || key.suspendedAt !== undefined) this.#revoked.add(principal)
    return principal
  }
}

/** Keeps one copy in memory of what the many keys of an organization have in common. */
class OrganizationParts {
  readonly #byId = new Map<OrganizationId, OrganizationPart & { readonly settings: string }>()

  of({ key, organizationSlug, organizationSettings: settings }: keyLookUp.FoundKey) {
    const { organizationId } = key
    const known = this.#byId.get(organizationId)
    if (known?.organizationSlug === organizationSlug && known.settings === settings) return known
    const organizationRate = readOrganizationRate(JSON.parse(settings) as Record<string, unknown>)
    const part = { organizationId, organizationSlug, organizationRate, settings }
    this.#byId.set(organizationId, part)
    return part
  }

  clear(): void {
    this.#byId.clear()
  }
}
