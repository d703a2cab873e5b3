import type { ProvenIdentity } from '../organizations/index.ts'
import type { Freshness } from './login-state.ts'

/** Somebody who can say who a person is: GitHub, Google. */
export interface SignInProvider {
  readonly name: string
  /** Where the browser goes, who must answer, and where the code will be exchanged. */
  start(
    fresh: Freshness,
    redirectUri: string,
  ): Promise<{ url: string; issuer: string; tokenEndpoint: string }>
  /** Checks the answer in full before and after the exchange of the code; throws Problems. */
  finish(answer: {
    readonly query: string
    readonly redirectUri: string
    readonly state: string
    readonly nonce: string
    readonly verifier: string
    readonly issuer: string
    readonly tokenEndpoint: string
  }): Promise<ProvenIdentity>
}
