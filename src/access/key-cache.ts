import { ForwardClock, type Clock, type Moment } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { KeyId, OrganizationId } from '../ids.ts'
import { digestBytes, digestToHex, type DigestBytes } from '../secrets/index.ts'
import { FollowingCache, keyLookUp, type Store } from '../store/index.ts'
import { challenge, invalid, type PresentedKey } from './credential.ts'
import { keyFault } from './key-fault.ts'
import {
  KeyMemory,
  keyPrincipal,
  type KeyPrincipal,
  type KeyShape,
  type KnownKey,
  type OrganizationPart,
} from './key-memory/index.ts'
import { readOrganizationRate } from './rates/organization-rate.ts'
import type { Scheme } from './schemes.ts'

/** Identifies callers by their API keys, and caches the keys that are in use. */
export interface KeyCache {
  /**
   * Returns the principal of a cached key, by the key's digest and without waiting; undefined if the key must be read
   * with `identify`. `moment`, if given, must have been taken after the caller's last await. Throws
   * `credential_revoked`, `credential_expired` (401).
   */
  known(keyDigest: DigestBytes, moment?: Moment): KeyPrincipal | undefined
  /**
   * Returns the principal of a presented key, without waiting if the key is cached and the change feed is current;
   * otherwise reads the database. Throws `credential_invalid`, `credential_revoked`, `credential_expired` (401), or
   * `credential_unverifiable` (503).
   */
  identify(presented: PresentedKey): KeyPrincipal | Promise<KeyPrincipal>
  /**
   * Returns the name of a principal's key and the hint of its secret; these are not cached, because only whoami needs
   * them. Reads the database; throws `credential_invalid` (401) if the key is gone, or `credential_unverifiable` (503).
   */
  describe(principal: KeyPrincipal): Promise<KeyDescription>
  /**
   * Reads the database and returns what a call with the same key and secret would get now: a principal, or a refusal.
   */
  recheck(principal: KeyPrincipal): Promise<KeyPrincipal | Problem>
  /**
   * Calls `heard` with the id of a key or an organization when anything about that key, or about all keys of that
   * organization, has changed. Calls it with undefined when everything may have changed.
   */
  onChange(heard: (changed: KeyId | OrganizationId | undefined) => void): void
  readonly size: number
}

export interface KeyDescription {
  readonly name: string
  readonly hint: string
}

interface KeyCacheDeps {
  readonly store: Store
  readonly clock: Clock
  readonly enabledSchemes: readonly Scheme[]
  readonly capacity: number
}

/** Creates a cache of at most `capacity` keys; the oldest entries are evicted first, though not strictly in order. */
export function createKeyCache(deps: KeyCacheDeps): KeyCache {
  return new FeedKeyCache(deps)
}

/** How many keys a node remembers at most; that many take about 390 MB. */
export const keysInMemory = 10_000_000
const maxOrganizations = 10_000

class FeedKeyCache implements KeyCache {
  readonly #deps: KeyCacheDeps
  readonly #organizations = new OrganizationParts()
  // Keys are found by their digests, so that no secret stays in memory.
  readonly #memory: KeyMemory
  readonly #cache: FollowingCache<KnownKey, DigestBytes>
  readonly #clock: ForwardClock

  constructor(deps: KeyCacheDeps) {
    this.#deps = deps
    this.#clock = new ForwardClock(deps.clock)
    this.#memory = new KeyMemory(deps)
    const follow = {
      feed: deps.store.feed,
      read: async (keyDigest: DigestBytes) => await this.#read(keyDigest),
      subjectsOf: ({ keyId, organizationId }: KnownKey) => [keyId, organizationId],
      forgets: {
        key: ({ subjectId }: { subjectId: KeyId }) => subjectId,
        organization: ({ subjectId }: { subjectId: OrganizationId }) => subjectId,
      },
    }
    this.#cache = new FollowingCache<KnownKey, DigestBytes>(follow, this.#memory)
  }

  get size(): number {
    return this.#cache.size
  }

  known(keyDigest: DigestBytes, moment?: Moment): KeyPrincipal | undefined {
    const known = this.#cache.peek(keyDigest, moment)
    return known && this.#admit(known)
  }

  identify(presented: PresentedKey): KeyPrincipal | Promise<KeyPrincipal> {
    const keyDigest = presented.digest ?? digestBytes(presented.text)
    return this.known(keyDigest) ?? this.#admitFound(this.#cache.find(keyDigest))
  }

  async recheck(principal: KeyPrincipal): Promise<KeyPrincipal | Problem> {
    try {
      return await this.#admitFound(this.#cache.read(principal.digest))
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  async describe(principal: KeyPrincipal): Promise<KeyDescription> {
    const { store } = this.#deps
    const found = await asked(
      async () => await keyLookUp.findByDigest(store, digestToHex(principal.digest)),
    )
    if (found === undefined) throw invalid(this.#deps.enabledSchemes)
    return { name: found.key.name, hint: found.secret.hint }
  }

  onChange(heard: (changed: KeyId | OrganizationId | undefined) => void): void {
    this.#cache.onChange((change) => {
      const isKnown = change?.kind === 'key' || change?.kind === 'organization'
      heard(isKnown ? change.subjectId : undefined)
    })
  }

  #admit(known: KnownKey): KeyPrincipal {
    const fault = keyFault(known, this.#clock)
    if (fault === undefined) return known
    const headers = challenge(this.#deps.enabledSchemes)
    throw new Problem(fault.code, fault.sentence, { headers })
  }

  async #admitFound(finding: Promise<KnownKey | undefined>): Promise<KeyPrincipal> {
    const found = await finding
    if (!found) throw invalid(this.#deps.enabledSchemes)
    return this.#admit(found)
  }

  async #read(keyDigest: DigestBytes): Promise<KnownKey | undefined> {
    return await asked(async () => {
      const found = await keyLookUp.findCaller(this.#deps.store, digestToHex(keyDigest))
      if (found === undefined) return undefined
      const { keyId, expiresAt } = found
      return keyPrincipal(this.#shapeOf(found), { keyId, digest: keyDigest, expiresAt })
    })
  }

  #shapeOf(found: keyLookUp.FoundCaller): KeyShape {
    const organization = this.#organizations.of(found)
    const text = organization.text + found.shared
    return (
      this.#memory.shapeOf(found.organizationId, text) ?? {
        ...organization,
        ...keyLookUp.readSharedPart(found.shared),
        text,
      }
    )
  }
}

async function asked<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new Problem(
      'credential_unverifiable',
      'The API key cannot be verified at the moment. Try again shortly.',
      { cause, headers: { 'Retry-After': '1' } },
    )
  }
}

/**
 * Caches, for each organization, the part that the principals of all its keys share, because that part seldom changes.
 */
class OrganizationParts {
  readonly #byId = new Map<
    OrganizationId,
    { readonly settings: string; readonly part: NamedPart }
  >()

  of({ organizationId, organizationSlug, organizationSettings: settings }: keyLookUp.FoundCaller) {
    const known = this.#byId.get(organizationId)
    if (known?.settings === settings && known.part.organizationSlug === organizationSlug) {
      return known.part
    }
    const organizationRate = readOrganizationRate(JSON.parse(settings) as Record<string, unknown>)
    const text = JSON.stringify([organizationSlug, organizationRate])
    const part = { organizationId, organizationSlug, organizationRate, text }
    if (this.#byId.size >= maxOrganizations) this.#byId.clear()
    this.#byId.set(organizationId, { settings, part })
    return part
  }
}

/** Two parts of the same organization are equal exactly if their texts are. */
type NamedPart = OrganizationPart & { readonly text: string }
