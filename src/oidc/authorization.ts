import type { Provider } from './discovery.ts'

/** The parameters sent to the provider at the start of a sign-in. */
export interface AuthorizationRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly nonce: string
  /** The S256 challenge of the verifier, base64url. */
  readonly challenge: string
  readonly loginHint?: string | undefined
  /** `login` makes the provider ask for credentials again. */
  readonly prompt?: 'login' | 'select_account' | undefined
  readonly maxAgeSeconds?: number | undefined
}

/**
 * Builds the URL for the browser: code flow with PKCE S256, response in the query (OpenID Connect Core 1.0, 3.1.2.1;
 * RFC 7636).
 */
export function authorizationUrl(
  provider: Pick<Provider, 'authorizationEndpoint'>,
  request: AuthorizationRequest,
): string {
  const url = new URL(provider.authorizationEndpoint)
  const parameters: Readonly<Record<string, string | undefined>> = {
    response_type: 'code',
    response_mode: 'query',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: [...new Set(['openid', ...request.scopes])].join(' '),
    state: request.state,
    nonce: request.nonce,
    code_challenge: request.challenge,
    code_challenge_method: 'S256',
    login_hint: request.loginHint,
    prompt: request.prompt,
    max_age: request.maxAgeSeconds?.toString(),
  }
  for (const [name, value] of Object.entries(parameters)) {
    // Use `set`: the provider's URL may already have parameters, which must not collide with ours.
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}
