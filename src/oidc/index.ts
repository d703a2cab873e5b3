import type { Clock } from '../clock.ts'
import type { Fetch } from './answers.ts'
import type { Provider } from './discovery.ts'
import { checkIdToken, subjectOf } from './id-token.ts'
import type { JsonObject } from './json.ts'
import { verifyToken } from './jwt.ts'
import { createKeys, type Keys } from './keys.ts'
import { verifyLogoutToken } from './logout-token.ts'
import type { Logout } from './logout-token.ts'
import { ProviderCache } from './providers.ts'
import { exchangeCode, type Client, type Tokens } from './token.ts'
import { fetchUserInfo } from './userinfo.ts'

export { authorizationUrl } from './authorization.ts'

export { sourceOf } from './claims.ts'
export { readCallback, readState } from './callback.ts'
export { checkedIssuer, clientAuthenticationFor } from './discovery.ts'
export type { Provider } from './discovery.ts'
export { fault, faultOf, faults } from './faults.ts'
export type { Check, Step } from './faults.ts'
export type { JsonObject } from './json.ts'
export type { Logout } from './logout-token.ts'
export type { Client } from './token.ts'

/** The person who signed in, according to the provider. */
export interface SignedIn {
  readonly issuer: string
  readonly subject: string
  readonly claims: JsonObject
  /** The claims of UserInfo; undefined if it was not requested or the provider has no such endpoint. */
  readonly userinfo: JsonObject | undefined
  /** The id_token itself; it can later be sent to the provider as the hint of a logout. */
  readonly idToken: string
}

/** The code that came back from a provider, with what its exchange and the check of the id_token need. */
export interface Grant {
  readonly code: string
  readonly verifier: string
  readonly nonce: string
  readonly maxAgeSeconds?: number | undefined
}

/** A redirect that came back from a provider. */
export interface FinishedRedirect {
  readonly provider: Provider
  readonly client: Client
  readonly grant: Grant
}

export interface SignInOptions {
  readonly signal?: AbortSignal | undefined
  /** UserInfo is requested unless this is false. */
  readonly askUserInfo?: boolean | undefined
  readonly passed?: ((step: Passed) => void) | undefined
}

/** The relying party of OpenID Connect; refuses with the problems of `faults.ts`. */
export interface RelyingParty {
  /**
   * Returns the validated discovery document, at most ten minutes old. `fresh` fetches it again; `freshKeys` drops the
   * cached keys, so that the next token fetches them again.
   */
  provider(issuer: string, options?: { fresh?: boolean; freshKeys?: boolean }): Promise<Provider>
  /** Exchanges the code and verifies id_token and UserInfo; `passed` is called after each successful step. */
  signIn(redirect: FinishedRedirect, options?: SignInOptions): Promise<SignedIn>
  logout(token: string, provider: Provider, clientId: string): Promise<Logout>
}

/** A step of a sign-in that succeeded, as reported while a connection is tested. */
export type Passed = 'token' | 'id_token' | 'userinfo'

interface RelyingPartyDeps {
  readonly fetch: Fetch
  readonly clock: Clock
  /** Allows http on loopback, for an installation that itself runs on localhost. */
  readonly allowLoopback: boolean
  /** Makes a random id for a client assertion. */
  readonly mintTokenId: () => string
}

/** Creates a relying party with caches of its own for discovery documents and keys. */
export function createRelyingParty(deps: RelyingPartyDeps): RelyingParty {
  return new OidcRelyingParty(deps)
}

class OidcRelyingParty implements RelyingParty {
  readonly #deps: RelyingPartyDeps
  readonly #keys: Keys
  readonly #providers: ProviderCache

  constructor(deps: RelyingPartyDeps) {
    this.#deps = deps
    this.#keys = createKeys(deps)
    this.#providers = new ProviderCache(deps)
  }

  async provider(
    issuer: string,
    { fresh = false, freshKeys = false }: { fresh?: boolean; freshKeys?: boolean } = {},
  ): Promise<Provider> {
    const found = await this.#providers.find(issuer, { fresh })
    if (freshKeys) this.#keys.forget(found)
    return found
  }

  async signIn(
    redirect: FinishedRedirect,
    { signal, askUserInfo = true, passed }: SignInOptions = {},
  ): Promise<SignedIn> {
    const { provider, client } = redirect
    const { fetch, clock, mintTokenId } = this.#deps
    const tokens = await exchangeCode(redirect, {
      ...{ fetch, signal },
      nowMs: clock.now(),
      tokenId: mintTokenId(),
    })
    passed?.('token')
    const claims = await this.#checkedClaims(redirect, tokens, signal)
    passed?.('id_token')
    const subject = subjectOf(claims, 'id_token')
    const session = { accessToken: tokens.accessToken, subject, clientId: client.clientId }
    const keys = this.#keys
    const userinfo = askUserInfo
      ? await fetchUserInfo(provider, session, { fetch, keys, signal })
      : undefined
    if (userinfo !== undefined) passed?.('userinfo')
    const { idToken } = tokens
    return { issuer: provider.issuer, subject, claims, userinfo, idToken }
  }

  async logout(token: string, provider: Provider, clientId: string): Promise<Logout> {
    const deps = { clientId, nowMs: this.#deps.clock.now(), keys: this.#keys }
    return await verifyLogoutToken(token, provider, deps)
  }

  async #checkedClaims(
    { provider, client, grant }: FinishedRedirect,
    { idToken, accessToken }: Tokens,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    const { claims, algorithm } = await verifyToken(idToken, {
      step: 'id_token',
      types: ['jwt'],
      provider,
      keys: this.#keys,
      signal,
    })
    checkIdToken(claims, algorithm, {
      issuer: provider.issuer,
      clientId: client.clientId,
      nonce: grant.nonce,
      accessToken,
      code: grant.code,
      maxAgeSeconds: grant.maxAgeSeconds,
      nowMs: this.#deps.clock.now(),
    })
    return claims
  }
}
