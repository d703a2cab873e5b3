import { call, objectOf } from './answers.ts'
import type { Fetch } from './answers.ts'
import type { Provider } from './discovery.ts'
import { fault } from './faults.ts'
import { checkIssuerAndAudience } from './id-token.ts'
import type { JsonObject } from './json.ts'
import { verifyToken } from './jwt.ts'
import type { Keys } from './keys.ts'

const maxBytes = 256 * 1024
const timeoutMs = 5_000

/** Requests UserInfo (OpenID Connect Core 1.0, section 5.3); undefined if the provider has no such endpoint. */
export async function fetchUserInfo(
  provider: Provider,
  session: { accessToken: string; subject: string; clientId: string },
  deps: { fetch: Fetch; keys: Keys; signal?: AbortSignal | undefined },
): Promise<JsonObject | undefined> {
  if (provider.userinfoEndpoint === undefined) return undefined
  const answer = await call(deps.fetch, {
    step: 'userinfo',
    url: provider.userinfoEndpoint,
    headers: { authorization: `Bearer ${session.accessToken}` },
    contentTypes: ['application/json', 'application/jwt'],
    maxBytes,
    timeoutMs,
    signal: deps.signal,
  })
  const claims =
    answer.contentType === 'application/jwt'
      ? await signedClaims(Buffer.from(answer.bytes).toString('latin1'), {
          ...{ provider, clientId: session.clientId },
          ...{ keys: deps.keys, signal: deps.signal },
        })
      : objectOf(answer, 'userinfo')
  if (claims['sub'] !== session.subject) throw fault('userinfo_subject', 'userinfo')
  return claims
}

async function signedClaims(
  token: string,
  expected: {
    readonly provider: Provider
    readonly clientId: string
    readonly keys: Keys
    readonly signal: AbortSignal | undefined
  },
): Promise<JsonObject> {
  const { provider, clientId, keys, signal } = expected
  const { claims } = await verifyToken(token, {
    step: 'userinfo',
    types: ['jwt'],
    provider,
    keys,
    signal,
  })
  // Section 5.3.2 only recommends an issuer and an audience in a signed response; we require both.
  checkIssuerAndAudience(claims, { issuer: provider.issuer, clientId }, 'userinfo')
  return claims
}
