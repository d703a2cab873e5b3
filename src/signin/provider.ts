import type { ProvenIdentity } from '../organizations/index.ts'
import type { Freshness } from './login-state.ts'

/** What came back to a callback, with what its sign-in was started with. */
export interface ProviderResponse {
  readonly query: string
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly issuer: string
  readonly tokenEndpoint: string
}

/** A built-in way to sign in: GitHub, Google. */
export interface SignInProvider {
  readonly name: string
  /** Where the browser goes, who must answer, and where the code will be exchanged. */
  start(
    fresh: Freshness,
    redirectUri: string,
  ): Promise<{ url: string; issuer: string; tokenEndpoint: string }>
  /** Checks the response in full before and after the exchange of the code; throws Problems. */
  finish(response: ProviderResponse): Promise<ProvenIdentity>
}
