import { signClientAssertion } from '../secrets/index.ts'
import { call, objectOf } from './answers.ts'
import type { Fetch } from './answers.ts'
import { clientAuthenticationFor } from './discovery.ts'
import type { Provider } from './discovery.ts'
import { fault, quoted } from './faults.ts'
import { isObject } from './json.ts'
import type { JsonObject } from './json.ts'

/** How this client authenticates to a provider: with a shared secret or its own private key. */
export type ClientCredential =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'key'; readonly privateJwk: Readonly<Record<string, unknown>> }

/** The client as registered at the provider. */
export interface Client {
  readonly clientId: string
  readonly credential: ClientCredential
  readonly redirectUri: string
}

/** A validated token response; the access token is never stored. */
export interface Tokens {
  readonly idToken: string
  readonly accessToken: string
}

const maxBytes = 256 * 1024
const timeoutMs = 5_000
const assertionLifetimeSeconds = 60

/** Exchanges the code (RFC 6749, section 4.1.3) and validates the form of the response (section 5.1). */
export async function exchangeCode(
  redirect: {
    readonly provider: Provider
    readonly client: Client
    readonly grant: { readonly code: string; readonly verifier: string }
  },
  deps: { fetch: Fetch; nowMs: number; tokenId: string; signal?: AbortSignal | undefined },
): Promise<Tokens> {
  const { provider, client, grant } = redirect
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: grant.code,
    redirect_uri: client.redirectUri,
    code_verifier: grant.verifier,
  })
  const proof = await clientProof({ provider, client }, deps)
  for (const [name, value] of Object.entries(proof.form)) form.set(name, value)
  const answer = await call(deps.fetch, {
    step: 'token',
    url: provider.tokenEndpoint,
    form,
    headers: proof.headers,
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

interface ClientProof {
  readonly headers: Record<string, string>
  readonly form: Record<string, string>
}

async function clientProof(
  { provider, client }: { readonly provider: Provider; readonly client: Client },
  deps: { nowMs: number; tokenId: string },
): Promise<ClientProof> {
  const { credential, clientId } = client
  const way = clientAuthenticationFor(provider, credential.kind)
  if (credential.kind === 'key') {
    const assertion = { clientId, audience: provider.tokenEndpoint, ...deps }
    return { headers: {}, form: await assertionForm(credential.privateJwk, assertion) }
  }
  if (way === 'client_secret_basic') {
    // The client id and the secret are each form-encoded first (RFC 6749, section 2.3.1).
    const pair = `${formEncode(clientId)}:${formEncode(credential.secret)}`
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
    return { headers: { authorization }, form: {} }
  }
  return { headers: {}, form: { client_id: clientId, client_secret: credential.secret } }
}

async function assertionForm(
  privateJwk: Readonly<Record<string, unknown>>,
  assertion: { clientId: string; audience: string; nowMs: number; tokenId: string },
): Promise<Record<string, string>> {
  const { clientId, audience, nowMs, tokenId } = assertion
  const now = Math.floor(nowMs / 1000)
  const claims = {
    iss: clientId,
    sub: clientId,
    // A provider that announces another provider's endpoint gains nothing: the key belongs to this connection alone, so
    // no other provider accepts the assertion.
    aud: audience,
    jti: tokenId,
    iat: now,
    nbf: now,
    exp: now + assertionLifetimeSeconds,
  }
  return {
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signClientAssertion(claims, privateJwk),
  }
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
  // Some providers send the number as a string.
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
