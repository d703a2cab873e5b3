import {
  constants,
  createHash,
  createHmac,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A response other than the plain JSON it should be. */
export interface Raw {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /**
   * `hang`: never responds; `drip`: one byte now and then; `endless`: never stops; `cut`: closes in mid-body;
   * `close`: closes before the first byte; `garbage`: sends something that is not HTTP; `short`: sends less than
   * promised.
   */
  readonly fault?: 'hang' | 'drip' | 'endless' | 'cut' | 'close' | 'garbage' | 'short'
}

export type Json = Record<string, unknown>

/** How one lie of the provider differs from the truth; omitted parts are honest. */
export interface Lie {
  readonly discovery?: (document: Json, idp: Keys) => Json | Raw
  readonly keys?: (keys: Json[], idp: Keys) => Json | Raw
  readonly redirect?: (answer: URLSearchParams) => void
  readonly token?: (answer: Json) => Json | Raw
  readonly header?: (header: Json, idp: Keys) => Json | string
  readonly claims?: (claims: Json, context: { accessToken: string; code: string }) => Json | string
  /** Builds the complete id_token from its two parts. */
  readonly sign?: (parts: { header: Json; claims: Json | string }, idp: Keys) => unknown
  readonly userinfo?: (claims: Json, idp: Keys, clientId: string) => Json | Raw
}

/** The issuer, the provider's key pairs, an attacker's (`stranger`), and one that is too short (`weak`). */
export interface Keys {
  readonly issuer: string
  readonly rsa: KeyPair
  readonly ec: KeyPair
  readonly ed: KeyPair
  readonly stranger: KeyPair
  readonly weak: KeyPair
}

interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export interface HostileIdp extends AsyncDisposable {
  /** Returns the issuer that tells this lie; the issuer named `honest` tells none. */
  issuerOf(lie: string): string
  /** How many requests reached an endpoint of the issuer that tells this lie. */
  asked(lie: string, endpoint: string): number
  /** The claims about the person who signs in next. */
  person: Json
  readonly clientSecret: string
  /** Requests to the token endpoint, newest last. */
  readonly tokenRequests: { readonly form: URLSearchParams; readonly authorization: string }[]
  /** A logout token of the honest provider; these claims override the usual ones. */
  logoutToken(clientId: string, claims: Json, header?: Json): string
  keys: Keys
}

/** Starts a provider on 127.0.0.1 whose lie is selected by the first path segment of its issuer. */
export async function hostileIdp(lies: Readonly<Record<string, Lie>>): Promise<HostileIdp> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pairs = {
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ed: generateKeyPairSync('ed25519'),
    stranger: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    weak: generateKeyPairSync('rsa', { modulusLength: 1024 }),
  }
  const grants = new Map<string, { nonce: string; clientId: string; accessToken: string }>()
  const asked = new Map<string, number>()
  const state: HostileIdp = {
    issuerOf: (lie) => `${origin}/${lie}`,
    asked: (lie, endpoint) => asked.get(`${lie}/${endpoint}`) ?? 0,
    person: { sub: 'ada', email: 'ada@acme.test', email_verified: true, name: 'Ada' },
    clientSecret: 'hostile-secret',
    tokenRequests: [],
    logoutToken: (clientId, claims, header = {}) =>
      logoutToken({ ...state.keys, issuer: `${origin}/honest` }, clientId, claims, header),
    keys: { issuer: origin, ...pairs },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }

  server.on('request', (request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin)
    const [, lieName = '', ...rest] = url.pathname.split('/')
    const endpoint = rest.join('/')
    asked.set(`${lieName}/${endpoint}`, (asked.get(`${lieName}/${endpoint}`) ?? 0) + 1)
    const lie = lieName === 'honest' ? {} : lies[lieName]
    if (lie === undefined) return void response.writeHead(404).end()
    const issuer = `${origin}/${lieName}`
    const idp = { ...state.keys, issuer }
    switch (endpoint) {
      case '.well-known/openid-configuration': {
        const document = discoveryOf(issuer)
        return await send(response, lie.discovery?.(document, idp) ?? document)
      }
      case 'jwks': {
        const keys = publishedKeys(idp)
        return await send(response, lie.keys?.(keys, idp) ?? { keys })
      }
      case 'authorize': {
        const code = randomBytes(16).toString('base64url')
        grants.set(code, {
          nonce: url.searchParams.get('nonce') ?? '',
          clientId: url.searchParams.get('client_id') ?? '',
          accessToken: randomBytes(16).toString('base64url'),
        })
        const query = new URLSearchParams({
          code,
          state: url.searchParams.get('state') ?? '',
          iss: issuer,
        })
        lie.redirect?.(query)
        const location = `${url.searchParams.get('redirect_uri')}?${query.toString()}`
        return void response.writeHead(302, { location }).end()
      }
      case 'token': {
        const form = new URLSearchParams(await bodyOf(request))
        state.tokenRequests.push({ form, authorization: request.headers.authorization ?? '' })
        const code = form.get('code') ?? ''
        const grant = grants.get(code)
        grants.delete(code)
        if (grant === undefined)
          return await send(response, { status: 400, body: '{"error":"invalid_grant"}' })
        grants.set(grant.accessToken, grant)
        const body: Json = {
          access_token: grant.accessToken,
          token_type: 'Bearer',
          expires_in: 3600,
          id_token: idToken(lie, idp, { ...grant, code, person: state.person }),
        }
        return await send(response, lie.token?.(body) ?? body)
      }
      case 'userinfo': {
        const token = (request.headers.authorization ?? '').replace(/^Bearer /, '')
        const grant = grants.get(token)
        if (grant === undefined) return void response.writeHead(401).end()
        return await send(
          response,
          lie.userinfo?.({ ...state.person }, idp, grant.clientId) ?? { ...state.person },
        )
      }
      default:
        return void response.writeHead(404).end()
    }
  }

  return state
}

/** Builds a compact JWS. Header or claims given as a string are encoded as they are; a string key means HMAC-SHA256. */
export function signed(
  header: Json | string,
  claims: Json | string,
  algorithm: string,
  key: KeyObject | string,
): string {
  const text = (part: Json | string): string =>
    typeof part === 'string' ? part : JSON.stringify(part)
  const input = [header, claims]
    .map((part) => Buffer.from(text(part)).toString('base64url'))
    .join('.')
  return `${input}.${signature(input, algorithm, key)}`
}

function signature(input: string, algorithm: string, key: KeyObject | string): string {
  const bytes = Buffer.from(input)
  if (typeof key === 'string') return createHmac('sha256', key).update(bytes).digest('base64url')
  const bits = `sha${algorithm.slice(-3)}`
  const raw = { key, dsaEncoding: 'ieee-p1363' } as const
  if (algorithm.startsWith('PS')) {
    const padding = {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: Number(algorithm.slice(-3)) / 8,
    }
    return sign(bits, bytes, padding).toString('base64url')
  }
  if (algorithm.startsWith('Ed')) return sign(null, bytes, key).toString('base64url')
  return sign(bits, bytes, algorithm.startsWith('ES') ? raw : key).toString('base64url')
}

/** Exports the public key as a JWK, as a provider publishes it. */
export function jwkOf(pair: KeyPair, kid: string | undefined, more: Json = {}): Json {
  return {
    ...pair.publicKey.export({ format: 'jwk' }),
    ...(kid === undefined ? {} : { kid }),
    use: 'sig',
    ...more,
  }
}

/** Computes at_hash or c_hash (OpenID Connect Core 1.0, section 3.3.2.11) for algorithms with SHA-256. */
export function half(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url')
}

function discoveryOf(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/logout?from=here`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

function publishedKeys(idp: Keys): Json[] {
  return [jwkOf(idp.rsa, 'rsa-1'), jwkOf(idp.ec, 'ec-1'), jwkOf(idp.ed, 'ed-1')]
}

function idToken(
  lie: Lie,
  idp: Keys,
  grant: { nonce: string; clientId: string; accessToken: string; code: string; person: Json },
): unknown {
  const now = Math.floor(Date.now() / 1000)
  const honestClaims: Json = {
    iss: idp.issuer,
    aud: grant.clientId,
    exp: now + 300,
    iat: now,
    nonce: grant.nonce,
    at_hash: half(grant.accessToken),
    ...grant.person,
  }
  const claims = lie.claims?.(honestClaims, grant) ?? honestClaims
  const honestHeader: Json = { alg: 'RS256', kid: 'rsa-1', typ: 'JWT' }
  const header = lie.header?.(honestHeader, idp) ?? honestHeader
  if (lie.sign !== undefined && typeof header !== 'string') return lie.sign({ header, claims }, idp)
  return signed(header, claims, 'RS256', idp.rsa.privateKey)
}

function logoutToken(idp: Keys, clientId: string, claims: Json, header: Json): string {
  const now = Math.floor(Date.now() / 1000)
  const usual: Json = {
    iss: idp.issuer,
    aud: clientId,
    iat: now,
    exp: now + 120,
    jti: randomBytes(8).toString('hex'),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  }
  const head = { alg: 'RS256', kid: 'rsa-1', typ: 'logout+jwt', ...header }
  return signed(head, { ...usual, ...claims }, 'RS256', idp.rsa.privateKey)
}

async function send(response: ServerResponse, answer: Json | Raw): Promise<void> {
  const raw = isRaw(answer) ? answer : { body: JSON.stringify(answer) }
  if (raw.fault === 'hang') return
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...raw.headers,
  }
  if (raw.fault === 'close') return void response.socket?.destroy()
  if (raw.fault === 'garbage') return void response.socket?.end('\u0000\u0001 not HTTP\r\n\r\n')
  response.writeHead(raw.status ?? 200, {
    ...headers,
    ...(raw.fault === 'short' ? { 'content-length': '1000' } : {}),
  })
  if (raw.fault === 'endless') return pour(response)
  if (raw.fault === 'short') {
    response.write('{}')
    return void setImmediate(() => response.destroy())
  }
  if (raw.fault === 'cut') {
    response.write('{"issuer":')
    return void setImmediate(() => response.destroy())
  }
  if (raw.fault === 'drip') {
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
    return
  }
  response.end(raw.body)
  await once(response, 'close')
}

function pour(response: ServerResponse): void {
  const more = ' '.repeat(64 * 1024)
  const go = (): void => {
    while (!response.destroyed && response.write(more)) continue
    if (!response.destroyed) response.once('drain', go)
  }
  go()
}

function isRaw(answer: Json | Raw): answer is Raw {
  return 'body' in answer || 'fault' in answer || 'status' in answer
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += String(part)
  return text
}
