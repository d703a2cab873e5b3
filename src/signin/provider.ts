import type { ProvenIdentity } from '../organizations/index.ts'
import type { Freshness } from './login-state.ts'

/** The provider's response as it arrived at our callback, with the values that its sign-in was started with. */
export interface ProviderResponse {
  readonly query: string
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly issuer: string
  readonly tokenEndpoint: string
}

/** A built-in way to sign in: GitHub or Google. */
export interface SignInProvider {
  readonly name: string
  /** Returns the URL for the browser, the expected issuer, and the endpoint for exchanging the code. */
  start(
    fresh: Freshness,
    redirectUri: string,
  ): Promise<{ url: string; issuer: string; tokenEndpoint: string }>
  /** Verifies the response and exchanges its code. */
  finish(response: ProviderResponse): Promise<ProvenIdentity>
}
