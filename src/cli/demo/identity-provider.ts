import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createId } from '../../ids.ts'
import {
  digestBase64url,
  loadSigner,
  mintSigningKeyPair,
  randomToken,
  signToken,
} from '../../secrets/index.ts'
import { listenLocally, type LocalServer } from './local-server.ts'
import { nodeHttp } from '../../http/message/index.ts'

const maxCodes = 100
const tokenSeconds = 300

/** The only client of the demo's provider: Intercept itself. */
export interface DemoClient {
  readonly id: string
  readonly secret: string
}

interface Grant {
  readonly redirectUri: string
  readonly nonce: string
  readonly challenge: string
}

/**
 * Starts a minimal OpenID provider (OpenID Connect Core, code flow with PKCE) that knows one person and asks for no
 * password.
 */
export async function startIdentityProvider(
  client: DemoClient,
  person: DemoPerson,
): Promise<LocalServer> {
  const pair = await mintSigningKeyPair()
  const kid = createId('sgn')
  const signer = await loadSigner(kid, pair.privateJwk)
  const publicKey = { ...(JSON.parse(pair.publicJwk) as object), kid, use: 'sig', alg: 'ES256' }
  const provider = new DemoProvider({ client, person, signer, publicKey })
  const server = nodeHttp.createServer((request, response) => {
    void provider.handle(request, response).catch(() => response.writeHead(500).end())
  })
  const local = await listenLocally(server, 8081)
  provider.issuer = local.url
  return local
}

interface DemoPerson {
  readonly email: string
  readonly name: string
}

interface ProviderDeps {
  readonly client: DemoClient
  readonly person: DemoPerson
  readonly signer: Awaited<ReturnType<typeof loadSigner>>
  readonly publicKey: object
}

class DemoProvider {
  /** The provider's URL, set once its server listens. */
  issuer = ''
  readonly #deps: ProviderDeps
  readonly #grants = new Map<string, Grant>()

  constructor(deps: ProviderDeps) {
    this.#deps = deps
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer)
    const route = `${request.method} ${url.pathname}`
    if (route === 'GET /.well-known/openid-configuration') {
      sendJson(response, 200, metadata(this.issuer))
    } else if (route === 'GET /jwks') sendJson(response, 200, { keys: [this.#deps.publicKey] })
    else if (route === 'GET /authorize') this.#askPerson(url, response)
    else if (route === 'GET /allow') this.#allow(url, response)
    else if (route === 'POST /token') await this.#giveToken(request, response)
    else response.writeHead(404).end()
  }

  /**
   * Makes the person click, as real providers do: after an immediate redirect, browsers may send SameSite=Strict
   * cookies to Intercept, which would hide mistakes.
   */
  #askPerson(url: URL, response: ServerResponse): void {
    url.pathname = '/allow'
    const link = `${url.pathname}${url.search}`.replaceAll('&', '&amp;').replaceAll('"', '%22')
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
    response.end(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Test identity provider</title><h1>Test identity provider</h1><p><a href="${link}">Sign in as ${this.#deps.person.email}</a></p></html>`,
    )
  }

  #allow(url: URL, response: ServerResponse): void {
    const asked = (name: string): string => url.searchParams.get(name) ?? ''
    if (asked('client_id') !== this.#deps.client.id || this.#grants.size >= maxCodes) {
      response.writeHead(400).end()
      return
    }
    const code = randomToken()
    const redirectUri = asked('redirect_uri')
    this.#grants.set(code, {
      ...{ redirectUri, nonce: asked('nonce'), challenge: asked('code_challenge') },
    })
    const back = new URL(redirectUri)
    for (const [name, value] of [
      ['code', code],
      ['state', asked('state')],
      ['iss', this.issuer],
    ] as const) {
      back.searchParams.set(name, value)
    }
    response.writeHead(303, { Location: back.href }).end()
  }

  async #giveToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { client, person, signer } = this.#deps
    const form = new URLSearchParams(await text(request))
    const grant = this.#grants.get(form.get('code') ?? '')
    this.#grants.delete(form.get('code') ?? '')
    const isProven =
      grant !== undefined &&
      isClient(request, form, client) &&
      form.get('redirect_uri') === grant.redirectUri &&
      digestBase64url(form.get('code_verifier') ?? '') === grant.challenge
    if (!isProven) {
      sendJson(response, 400, { error: 'invalid_grant' })
      return
    }
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      ...{ iss: this.issuer, aud: client.id, sub: digestBase64url(person.email) },
      ...{ iat: now, exp: now + tokenSeconds, nonce: grant.nonce },
      ...{ email: person.email, email_verified: true, name: person.name },
    }
    sendJson(response, 200, {
      access_token: randomToken(),
      token_type: 'Bearer',
      expires_in: tokenSeconds,
      id_token: await signToken(signer, 'JWT', claims),
    })
  }
}

/** Whether the client has authenticated by client_secret_basic or client_secret_post (RFC 6749, section 2.3.1). */
function isClient(request: IncomingMessage, form: URLSearchParams, client: DemoClient): boolean {
  const [, basic] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
  const [id, secret] =
    basic === undefined
      ? [form.get('client_id'), form.get('client_secret')]
      : Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
  return id === client.id && secret === client.secret
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ['openid', 'email', 'profile'],
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(JSON.stringify(body))
}
