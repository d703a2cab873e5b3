import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GithubPerson {
  readonly id: number
  readonly login: string
  readonly name?: string
  readonly emails: readonly {
    readonly email: string
    readonly primary: boolean
    readonly verified: boolean
  }[]
}

/** Imitates github.com's OAuth and the two API calls that sign-in needs, with GitHub Enterprise's URL layout. */
export interface TestGithub extends AsyncDisposable {
  /** The value for GITHUB_URL: the pages and the token endpoint. */
  readonly url: string
  /** The value for GITHUB_API_URL: /user and /user/emails. */
  readonly apiUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly people: Map<string, GithubPerson>
  readonly tokenRequests: () => number
}

interface Grant {
  readonly login: string
  readonly challenge: string
  readonly redirectUri: string
  readonly scope: string
}

interface Parts {
  readonly people: Map<string, GithubPerson>
  readonly codes: Map<string, Grant>
  readonly tokens: Map<string, Grant>
  readonly clientId: string
  readonly clientSecret: string
}

interface GithubOptions {
  readonly people?: readonly GithubPerson[]
  readonly port?: number
}

/** Starts the fake GitHub on 127.0.0.1, on a free port unless `port` is given. */
export async function githubForTests(options: GithubOptions = {}): Promise<TestGithub> {
  const parts: Parts = {
    people: new Map((options.people ?? []).map((person) => [person.login, person])),
    codes: new Map(),
    tokens: new Map(),
    clientId: 'Iv1.test',
    clientSecret: randomBytes(20).toString('hex'),
  }
  let tokenRequests = 0
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/login/oauth/access_token')) tokenRequests++
    void route(parts, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    apiUrl: `${url}/api/v3`,
    clientId: parts.clientId,
    clientSecret: parts.clientSecret,
    people: parts.people,
    tokenRequests: () => tokenRequests,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function route(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = new URL(request.url ?? '/', 'http://github.test')
  switch (`${request.method} ${address.pathname}`) {
    case 'GET /login/oauth/authorize':
      return authorizePage(parts, address, response)
    case 'POST /login/oauth/authorize':
      return authorize(parts, await formOf(request), response)
    case 'POST /login/oauth/access_token':
      return exchange(parts, await formOf(request), response)
    case 'GET /api/v3/user':
      return withToken(parts, request, response, ({ id, login, name }) => ({
        id,
        login,
        name: name ?? null,
        email: null,
      }))
    case 'GET /api/v3/user/emails':
      return withToken(parts, request, response, ({ emails }) => emails)
    default:
      response.writeHead(404).end()
  }
}

function authorizePage(parts: Parts, address: URL, response: ServerResponse): void {
  const asked = address.searchParams
  if (asked.get('client_id') !== parts.clientId) {
    response.writeHead(404).end('unknown client')
    return
  }
  const kept = ['redirect_uri', 'state', 'code_challenge', 'code_challenge_method', 'scope']
  const fields = kept.map(
    (name) => `<input type="hidden" name="${name}" value="${escapeHtml(asked.get(name) ?? '')}">`,
  )
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(`<!doctype html><html lang="en"><title>GitHub look-alike</title><link rel="icon" href="data:,">
<form method="post" action="/login/oauth/authorize">${fields.join('')}<h1>GitHub look-alike</h1>
<label>Login <input name="login" autofocus></label> <button>Authorize</button>
<button name="cancel" value="1">Cancel</button></form></html>`)
}

function authorize(parts: Parts, form: URLSearchParams, response: ServerResponse): void {
  const login = form.get('login') ?? ''
  const back = new URL(form.get('redirect_uri') ?? '')
  back.searchParams.set('state', form.get('state') ?? '')
  if (form.get('cancel')) {
    back.searchParams.set('error', 'access_denied')
  } else if (!parts.people.has(login)) {
    response.writeHead(400).end('nobody of that name')
    return
  } else {
    const code = randomBytes(10).toString('hex')
    parts.codes.set(code, {
      login,
      challenge:
        form.get('code_challenge_method') === 'S256' ? (form.get('code_challenge') ?? '') : '',
      redirectUri: form.get('redirect_uri') ?? '',
      scope: form.get('scope') ?? '',
    })
    back.searchParams.set('code', code)
  }
  response.writeHead(302, { location: back.href }).end()
}

/** Exchanges a code for a token; like GitHub, responds with 200 and an `error` member if that fails. */
function exchange(parts: Parts, form: URLSearchParams, response: ServerResponse): void {
  const code = form.get('code') ?? ''
  const grant = parts.codes.get(code)
  parts.codes.delete(code)
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  const genuine =
    grant !== undefined &&
    form.get('client_id') === parts.clientId &&
    form.get('client_secret') === parts.clientSecret &&
    form.get('redirect_uri') === grant.redirectUri &&
    challenge === grant.challenge
  response.setHeader('content-type', 'application/json')
  if (!genuine) {
    response.end(JSON.stringify({ error: 'bad_verification_code' }))
    return
  }
  const token = `gho_${randomBytes(18).toString('hex')}`
  parts.tokens.set(token, grant)
  response.end(JSON.stringify({ access_token: token, scope: grant.scope, token_type: 'bearer' }))
}

function withToken(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  show: (person: GithubPerson) => unknown,
): void {
  const token = (request.headers.authorization ?? '').replace(/^Bearer /i, '')
  const person = parts.people.get(parts.tokens.get(token)?.login ?? '')
  response.setHeader('content-type', 'application/json')
  // GitHub refuses API calls without a user agent.
  if (!person || !request.headers['user-agent']) {
    response.writeHead(person ? 403 : 401).end('{"message":"Bad credentials"}')
    return
  }
  response.end(JSON.stringify(show(person)))
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
