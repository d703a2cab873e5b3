import type { Clock } from '../clock.ts'
import { signatureAlgorithms } from '../secrets/index.ts'
import type { PublicJwk, SignatureAlgorithm } from '../secrets/index.ts'
import { call, objectOf } from './answers.ts'
import type { Fetch } from './answers.ts'
import type { Provider } from './discovery.ts'
import { fault } from './faults.ts'
import type { Step } from './faults.ts'
import { isObject } from './json.ts'
import { minuteMs } from '../units.ts'

/** A cache of providers' published keys. */
export interface Keys {
  /** Finds the one matching key; `again` fetches the set even if a key is known, as far as the budget allows. */
  find(from: KeySource, wanted: Wanted, again: boolean): Promise<PublicJwk>
  forget(from: KeySource): void
}

/**
 * Identifies a key set. Each pair of issuer and URL has its own budgets of extra fetches, so that an issuer that
 * announces another issuer's URL spends only its own.
 */
export type KeySource = Pick<Provider, 'issuer' | 'keysAddress'>

/** The key that a token's header asks for. */
export interface Wanted {
  readonly step: Step
  readonly kid: string | undefined
  readonly algorithm: SignatureAlgorithm
  readonly signal?: AbortSignal | undefined
}

interface Entry {
  keys: readonly PublicJwk[]
  fetchedAt: number
  /**
   * How many extra fetches are left. Anyone can post logout tokens, so they must not use up the budget of the sign-ins.
   */
  readonly budgets: { readonly signIn: Budget; readonly logout: Budget }
  running: Promise<readonly PublicJwk[]> | undefined
}

interface Budget {
  left: number
  refilledAt: number
}

const lifetimeMs = 10 * minuteMs
const budgetSize = 3
const refillMs = 30_000
const maxKeys = 64
const maxProviders = 2_000
const maxBytes = 256 * 1024
const timeoutMs = 5_000

/** Creates a cache of up to 2,000 key sets in memory. */
export function createKeys(deps: { fetch: Fetch; clock: Clock }): Keys {
  const entries = new Map<string, Entry>()

  async function find(from: KeySource, wanted: Wanted, again: boolean): Promise<PublicJwk> {
    const { keysAddress: address } = from
    const entry = entryOf(entries, nameOf(from), deps.clock.now())
    const age = deps.clock.now() - entry.fetchedAt
    const fresh = age >= 0 && age < lifetimeMs && entry.keys.length > 0
    if (!fresh) {
      const found = fitting(await refresh(entry, address, wanted.signal), wanted)
      if (found !== undefined) return found
      throw fault('key_unknown', wanted.step)
    }
    const known = again ? undefined : fitting(entry.keys, wanted)
    // An unknown key may be new, and a key whose signatures fail may have been replaced.
    const found = known ?? (await findAnew(entry, address, wanted))
    if (found !== undefined) return found
    const kept = again ? fitting(entry.keys, wanted) : undefined
    if (kept !== undefined) return kept
    throw fault('key_unknown', wanted.step)
  }

  /** Joining a fetch in progress costs no budget, because many sign-ins meet a new key at once. */
  async function findAnew(
    entry: Entry,
    address: string,
    wanted: Wanted,
  ): Promise<PublicJwk | undefined> {
    const joins = entry.running !== undefined
    if (!joins && !spend(budgetOf(entry, wanted), deps.clock.now())) return undefined
    const found = fitting(await refresh(entry, address, wanted.signal), wanted)
    // A fetch already in progress may have started before the key was published.
    if (found !== undefined || !joins) return found
    const isSpent = entry.running === undefined && !spend(budgetOf(entry, wanted), deps.clock.now())
    return isSpent ? undefined : fitting(await refresh(entry, address, wanted.signal), wanted)
  }

  async function refresh(
    entry: Entry,
    address: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly PublicJwk[]> {
    entry.running ??= fetchKeys(deps.fetch, address).finally(() => {
      entry.running = undefined
    })
    const keys = await within(entry.running, signal)
    entry.keys = keys
    entry.fetchedAt = deps.clock.now()
    return keys
  }

  return { find, forget: (from) => void entries.delete(nameOf(from)) }
}

/** Waits for a fetch that several callers share, but only until the caller's own signal aborts. */
async function within<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await shared
  const { promise: over, reject } = Promise.withResolvers<never>()
  const end = (): void => reject(fault('timeout', 'keys'))
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([shared, over])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

async function fetchKeys(fetch: Fetch, address: string): Promise<readonly PublicJwk[]> {
  const answer = await call(fetch, {
    step: 'keys',
    url: address,
    contentTypes: ['application/json', 'application/jwk-set+json'],
    maxBytes,
    timeoutMs,
  })
  const { keys } = objectOf(answer, 'keys')
  if (!Array.isArray(keys) || !keys.every(isObject)) throw fault('keys_shape', 'keys')
  if (keys.length > maxKeys) throw fault('keys_too_many', 'keys')
  // Anyone can sign with a private key that was published, so such a provider proves nothing.
  if (keys.some((key) => key['kty'] !== 'oct' && key['d'] !== undefined)) {
    throw fault('key_private', 'keys')
  }
  return keys
}

// If several keys fit, the token must name its key by `kid` (OpenID Connect Core 1.0, section 10.1).
function fitting(keys: readonly PublicJwk[], wanted: Wanted): PublicJwk | undefined {
  const found = keys.filter(
    (key) =>
      (wanted.kid === undefined || key['kid'] === wanted.kid) && serves(key, wanted.algorithm),
  )
  if (found.length > 1) throw fault('key_ambiguous', wanted.step)
  return found[0]
}

function serves(key: PublicJwk, algorithm: SignatureAlgorithm): boolean {
  const expected: { kty: string; curve?: string } = signatureAlgorithms[algorithm]
  // `Ed25519` is the newer name for EdDSA with the curve Ed25519 (RFC 9864); a key may carry either name.
  const names: readonly unknown[] = expected.kty === 'OKP' ? ['EdDSA', 'Ed25519'] : [algorithm]
  return (
    key['kty'] === expected.kty &&
    (expected.curve === undefined || key['crv'] === expected.curve) &&
    (key['alg'] === undefined || names.includes(key['alg'])) &&
    (key['use'] === undefined || key['use'] === 'sig') &&
    (key['key_ops'] === undefined ||
      (Array.isArray(key['key_ops']) && key['key_ops'].includes('verify')))
  )
}

function budgetOf(entry: Entry, wanted: Wanted): Budget {
  return wanted.step === 'logout_token' ? entry.budgets.logout : entry.budgets.signIn
}

function spend(budget: Budget, now: number): boolean {
  const grown = Math.floor((now - budget.refilledAt) / refillMs)
  // A clock that was set back must not freeze the budget.
  if (grown < 0) budget.refilledAt = now
  if (grown > 0) {
    budget.left = Math.min(budgetSize, budget.left + grown)
    budget.refilledAt += grown * refillMs
  }
  if (budget.left === 0) return false
  budget.left--
  return true
}

function nameOf({ issuer, keysAddress }: KeySource): string {
  return `${issuer} ${keysAddress}`
}

function entryOf(entries: Map<string, Entry>, name: string, now: number): Entry {
  const known = entries.get(name)
  if (known !== undefined) return known
  if (entries.size >= maxProviders) {
    const oldest = entries.keys().next()
    if (oldest.done !== true) entries.delete(oldest.value)
  }
  const entry: Entry = {
    keys: [],
    fetchedAt: Number.NEGATIVE_INFINITY,
    budgets: {
      signIn: { left: budgetSize, refilledAt: now },
      logout: { left: budgetSize, refilledAt: now },
    },
    running: undefined,
  }
  entries.set(name, entry)
  return entry
}
