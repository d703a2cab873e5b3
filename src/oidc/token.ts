import { signClientAssertion } from '../secrets/index.ts'
import { call, objectOf } from './answers.ts'
import type { Fetch } from './answers.ts'
import { clientAuthenticationFor } from './discovery.ts'
import type { Provider } from './discovery.ts'
import { fault, quoted } from './faults.ts'
import { isObject } from './json.ts'
import type { JsonObject } from './json.ts'

/** How this client proves itself to a provider: a shared secret, or a private key of its own. */
export type ClientCredential =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'key'; readonly privateJwk: Readonly<Record<string, unknown>> }

/** The client as the provider knows it. */
export interface Client {
  readonly clientId: string
  readonly credential: ClientCredential
  readonly redirectUri: string
}

/** A checked token answer; the tokens live as long as the sign-in and are never stored. */
export interface Tokens {
  readonly idToken: string
  readonly accessToken: string
}

const maxBytes = 256 * 1024
const timeoutMs = 5_000
const assertionLifetimeSeconds = 60

/** Exchanges the code (RFC 6749, 4.1.3) and checks the answer's form (5.1) before anything in it is believed. */
export async function exchangeCode(
  provider: Provider,
  client: Client,
  grant: { code: string; verifier: string },
  deps: { fetch: Fetch; nowMs: number; tokenId: string; signal?: AbortSignal | undefined },
): Promise<Tokens> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: grant.code,
    redirect_uri: client.redirectUri,
    code_verifier: grant.verifier,
  })
  const headers = await proveClient(form, provider, client, deps)
  const answer = await call(deps.fetch, {
    step: 'token',
    url: provider.tokenEndpoint,
    form,
    headers,
    contentTypes: ['application/json'],
    statuses: [200, 400, 401, 403],
    maxBytes,
    timeoutMs,
    signal: deps.signal,
  })
  const body = objectOf(answer, 'token')
  if (answer.status !== 200 || body['error'] !== undefined) throw refused(body, answer.status)
  return checkedTokens(body)
}

async function proveClient(
  form: URLSearchParams,
  provider: Provider,
  client: Client,
  deps: { nowMs: number; tokenId: string },
): Promise<Record<string, string>> {
  const { credential, clientId } = client
  const way = clientAuthenticationFor(provider, credential.kind)
  if (credential.kind === 'secret' && way === 'client_secret_basic') {
    // Both halves are form-encoded first (RFC 6749, section 2.3.1).
    const pair = `${formEncode(clientId)}:${formEncode(credential.secret)}`
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
  }
  form.set('client_id', clientId)
  if (credential.kind === 'secret') {
    form.set('client_secret', credential.secret)
    return {}
  }
  const now = Math.floor(deps.nowMs / 1000)
  form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
  form.set(
    'client_assertion',
    await signClientAssertion(
      {
        iss: clientId,
        sub: clientId,
        // The key is this connection's own, so an audience that another provider chose gains nothing.
        aud: provider.tokenEndpoint,
        jti: deps.tokenId,
        iat: now,
        nbf: now,
        exp: now + assertionLifetimeSeconds,
      },
      credential.privateJwk,
    ),
  )
  return {}
}

function checkedTokens(body: JsonObject): Tokens {
  const type = body['token_type']
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw fault('token_type', 'token')
  const accessToken = body['access_token']
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]{1,65536}$/.test(accessToken)) {
    throw fault('access_token', 'token')
  }
  const idToken = body['id_token']
  if (idToken === undefined) throw fault('id_token_missing', 'token')
  if (typeof idToken !== 'string') throw fault('token_member', 'token', 'It is the id_token.')
  const lifetime = body['expires_in']
  // Some providers send the number as a text.
  if (lifetime !== undefined && !(Number(lifetime) >= 0 && /number|string/.test(typeof lifetime))) {
    throw fault('token_member', 'token', 'It is expires_in.')
  }
  const scope = body['scope']
  if (scope !== undefined && typeof scope !== 'string') {
    throw fault('token_member', 'token', 'It is the scope.')
  }
  return { idToken, accessToken }
}

function refused(body: JsonObject, status: number): Error {
  const error = isObject(body) ? body['error'] : undefined
  const hint =
    error === 'invalid_client'
      ? ' The client id or its secret is wrong, or was replaced at the provider.'
      : ''
  return fault('token_refused', 'token', `It answered ${status} ${quoted(error)}.${hint}`)
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
