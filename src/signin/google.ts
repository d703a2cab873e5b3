import { Problem } from '../errors.ts'
import { authorizationUrl, readCallback, sourceOf, type RelyingParty } from '../oidc/index.ts'
import type { SignInProvider } from './provider.ts'

// Nobody should have to wait longer than ten seconds until a sign-in succeeds or fails.
const budgetMs = 9_000

/** Creates the provider Google, or another OpenID provider that the operator has configured instead. */
export function createGoogle(deps: {
  readonly relyingParty: RelyingParty
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}): SignInProvider {
  const { relyingParty, clientId } = deps
  return {
    name: 'google',
    async start(fresh, redirectUri) {
      // The discovery document is fetched anew, so that no one is sent to a provider that is down.
      const provider = await relyingParty.provider(deps.issuer, { fresh: true })
      const url = authorizationUrl(provider, {
        clientId,
        redirectUri,
        scopes: ['openid', 'email', 'profile'],
        state: fresh.state,
        nonce: fresh.nonce,
        challenge: fresh.challenge,
      })
      return { url, issuer: provider.issuer, tokenEndpoint: provider.tokenEndpoint }
    },
    async finish(answer) {
      const provider = await relyingParty.provider(deps.issuer)
      const { code } = readCallback(answer.query, { state: answer.state, provider })
      if (provider.issuer !== answer.issuer || provider.tokenEndpoint !== answer.tokenEndpoint) {
        throw new Problem('callback_invalid', 'The provider has changed meanwhile. Start again.')
      }
      const credential = { kind: 'secret', secret: deps.clientSecret } as const
      const { redirectUri, verifier, nonce } = answer
      const client = { clientId, credential, redirectUri }
      const grant = { code, verifier, nonce }
      const signedIn = await relyingParty.signIn(
        { provider, client, grant },
        { signal: AbortSignal.timeout(budgetMs) },
      )
      const { subject, claims, userinfo } = signedIn
      const { email, email_verified: verified } = sourceOf(signedIn, 'email')
      const name = claims['name'] ?? userinfo?.['name']
      return {
        provider: 'google',
        connectionId: '',
        issuer: provider.issuer,
        subject,
        email: typeof email === 'string' ? email : undefined,
        emailVerified: typeof email === 'string' && verified === true,
        name: typeof name === 'string' ? name : undefined,
      }
    },
  }
}
