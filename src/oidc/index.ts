import type { Clock } from '../clock.ts'
import type { Fetch } from './answers.ts'
import { discover } from './discovery.ts'
import type { Provider } from './discovery.ts'
import { checkIdToken, subjectOf } from './id-token.ts'
import type { JsonObject } from './json.ts'
import { verifyToken } from './jwt.ts'
import { createKeys } from './keys.ts'
import { verifyLogoutToken } from './logout-token.ts'
import type { Logout } from './logout-token.ts'
import { exchangeCode } from './token.ts'
import type { Client } from './token.ts'
import { fetchUserInfo } from './userinfo.ts'

export { authorizationUrl } from './authorization.ts'

export { readCallback, readState } from './callback.ts'
export { checkedIssuer, clientAuthenticationFor } from './discovery.ts'
export type { Provider } from './discovery.ts'
export { fault, faultOf, faults } from './faults.ts'
export type { Check, Step } from './faults.ts'
export type { JsonObject } from './json.ts'
export type { Logout } from './logout-token.ts'
export type { Client } from './token.ts'

/** Who a provider says has signed in; claims beyond the subject are unproven in type. */
export interface SignedIn {
  readonly issuer: string
  readonly subject: string
  readonly claims: JsonObject
  /** What UserInfo adds; its subject is the same. */
  readonly userinfo: JsonObject | undefined
  /** The id_token itself, a hint for the provider at the logout. */
  readonly idToken: string
}

/** One finished redirect: what was sent to the provider and what came back. */
export interface Grant {
  readonly code: string
  readonly verifier: string
  readonly nonce: string
  readonly maxAgeSeconds?: number | undefined
}

/** The relying party: everything that is asked of an OpenID provider, every answer checked. Fails with the problems of `faults.ts`. */
export interface RelyingParty {
  /** The checked discovery document, at most ten minutes old; `fresh` asks anew, `freshKeys` lets the keys be asked anew too. */
  provider(issuer: string, options?: { fresh?: boolean; freshKeys?: boolean }): Promise<Provider>
  /** Exchanges the code and checks id_token and UserInfo; `passed` hears of each step that succeeded. */
  signIn(
    provider: Provider,
    client: Client,
    grant: Grant,
    options?: { signal?: AbortSignal; askUserInfo?: boolean; passed?: (step: Passed) => void },
  ): Promise<SignedIn>
  logout(token: string, provider: Provider, clientId: string): Promise<Logout>
}

/** The steps of a sign-in that have succeeded, for the test of a connection. */
export type Passed = 'token' | 'id_token' | 'userinfo'

interface Needs {
  readonly fetch: Fetch
  readonly clock: Clock
  /** Opens http on loopback, for an installation that itself runs on localhost. */
  readonly allowLoopback: boolean
  /** A fresh random id for a client assertion. */
  readonly mintTokenId: () => string
}

const providerLifetimeMs = 10 * 60_000
const failureLifetimeMs = 2_000
const maxProviders = 2_000

/** Opens the room: caches of discovery documents and keys, nothing else. */
export function createRelyingParty(deps: Needs): RelyingParty {
  const { fetch, clock } = deps
  const keys = createKeys({ fetch, clock })
  const providers = new Map<string, { provider: Provider; at: number }>()
  const asking = new Map<string, Promise<Provider>>()
  // A provider that is down is not asked again by everybody who tries.
  const failures = new Map<string, { error: unknown; at: number }>()

  async function provider(
    issuer: string,
    options: { fresh?: boolean; freshKeys?: boolean } = {},
  ): Promise<Provider> {
    if (options.fresh !== true) {
      const known = providers.get(issuer)
      if (known && isYoung(known.at, providerLifetimeMs)) return known.provider
      const failure = failures.get(issuer)
      if (failure && isYoung(failure.at, failureLifetimeMs)) throw failure.error
    }
    const found = await shared(issuer)
    if (options.freshKeys === true) keys.forget(found.keysAddress)
    return found
  }

  // Many who wait for the same provider share one question, which has a time limit of its own.
  async function shared(issuer: string): Promise<Provider> {
    const running = asking.get(issuer) ?? ask(issuer).finally(() => asking.delete(issuer))
    asking.set(issuer, running)
    return await running
  }

  // A clock that was set back makes nothing young again.
  function isYoung(at: number, lifetimeMs: number): boolean {
    const age = clock.now() - at
    return age >= 0 && age < lifetimeMs
  }

  async function ask(issuer: string): Promise<Provider> {
    try {
      const { allowLoopback } = deps
      const found = await discover(issuer, { fetch, allowLoopback })
      if (providers.size >= maxProviders) providers.clear()
      providers.set(issuer, { provider: found, at: clock.now() })
      failures.delete(issuer)
      return found
    } catch (error) {
      if (failures.size >= maxProviders) failures.clear()
      failures.set(issuer, { error, at: clock.now() })
      throw error
    }
  }

  async function signIn(
    from: Provider,
    client: Client,
    grant: Grant,
    options: { signal?: AbortSignal; askUserInfo?: boolean; passed?: (step: Passed) => void } = {},
  ): Promise<SignedIn> {
    const { signal } = options
    const tokens = await exchangeCode(from, client, grant, {
      fetch,
      nowMs: clock.now(),
      tokenId: deps.mintTokenId(),
      signal,
    })
    options.passed?.('token')
    const { claims, algorithm } = await verifyToken(tokens.idToken, {
      step: 'id_token',
      types: ['jwt'],
      algorithms: from.algorithms,
      keysAddress: from.keysAddress,
      keys,
      signal,
    })
    checkIdToken(claims, algorithm, {
      issuer: from.issuer,
      clientId: client.clientId,
      nonce: grant.nonce,
      accessToken: tokens.accessToken,
      code: grant.code,
      maxAgeSeconds: grant.maxAgeSeconds,
      nowMs: clock.now(),
    })
    options.passed?.('id_token')
    const subject = subjectOf(claims, 'id_token')
    const session = { accessToken: tokens.accessToken, subject, clientId: client.clientId }
    const userinfo =
      options.askUserInfo === false
        ? undefined
        : await fetchUserInfo(from, session, { fetch, keys, signal })
    if (userinfo !== undefined) options.passed?.('userinfo')
    return { issuer: from.issuer, subject, claims, userinfo, idToken: tokens.idToken }
  }

  return {
    provider,
    signIn,
    logout: (token, from, clientId) =>
      verifyLogoutToken(token, from, { clientId, nowMs: clock.now(), keys }),
  }
}
