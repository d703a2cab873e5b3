import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A person at the provider. Of `claims`, the provider sends only those that its configuration (below) lists. */
export interface IdpPerson {
  readonly subject: string
  readonly email?: string
  readonly emailVerified?: boolean
  readonly name?: string
  readonly claims?: Readonly<Record<string, unknown>>
}

/** A real OpenID provider on 127.0.0.1; a person types a login into its form and submits it. */
export interface TestIdp extends AsyncDisposable {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** People may be added and changed at any time; the login form accepts their e-mail address or subject. */
  readonly people: Map<string, IdpPerson>
  /** Registers a redirect URL, because the product's port is known only after the provider has started. */
  allowRedirect(address: string): void
  readonly tokenRequests: () => number
}

interface IdpOptions {
  readonly people?: readonly IdpPerson[]
  readonly redirects?: readonly string[]
  readonly port?: number
  readonly clientId?: string
  readonly clientSecret?: string
}

/** Starts the provider, on a free port unless `port` is given. */
export async function idpForTests(options: IdpOptions = {}): Promise<TestIdp> {
  const server = createServer()
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clientId = options.clientId ?? 'intercept-test'
  const clientSecret = options.clientSecret ?? randomBytes(24).toString('hex')
  const redirects = [...(options.redirects ?? ['http://127.0.0.1/never'])]
  const people = new Map((options.people ?? []).map((person) => [person.subject, person]))
  const client = () => ({
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uris: redirects,
    post_logout_redirect_uris: redirects.map((address) => new URL('/sign-in', address).href),
    grant_types: ['authorization_code'],
    response_types: ['code'],
    application_type: 'web',
  })
  const provider = new Provider(issuer, configuration(people, clientId, client))
  const answer = provider.callback()
  let tokenRequests = 0
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) {
      void interact(provider, people, request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error))
      })
      return
    }
    if (request.url?.startsWith('/token')) tokenRequests++
    answer(request, response)
  })
  return {
    issuer,
    clientId,
    clientSecret,
    people,
    tokenRequests: () => tokenRequests,
    allowRedirect: (address) => void redirects.push(address),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function configuration(
  people: Map<string, IdpPerson>,
  clientId: string,
  client: () => Record<string, unknown>,
): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    adapter: memoryAdapter(clientId, client),
    jwks: {
      keys: [
        { ...rsa.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'rsa' },
        { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'ec' },
      ],
    },
    cookies: { keys: [randomBytes(24).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    // Like Google, puts the scopes' claims into the id_token.
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub', 'oid', 'tid', 'groups', 'hd', 'auth_time'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Grant: 3600,
      Interaction: 600,
      Session: 3600,
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, subject: string) => account(people, subject),
    issueRefreshToken: () => false,
    renderError: (context: { body: string; type: string }, out: { error: string }) => {
      context.type = 'text'
      context.body = `refused: ${JSON.stringify(out)}`
    },
    loadExistingGrant: grantEverything,
  }
}

function account(people: Map<string, IdpPerson>, subject: string): unknown {
  const person = people.get(subject)
  if (!person) return undefined
  return {
    accountId: subject,
    claims: () => ({
      sub: subject,
      ...(person.email === undefined ? {} : { email: person.email }),
      ...(person.emailVerified === undefined ? {} : { email_verified: person.emailVerified }),
      ...(person.name === undefined ? {} : { name: person.name }),
      ...person.claims,
    }),
  }
}

async function grantEverything(context: {
  oidc: {
    provider: Provider
    client: { clientId: string }
    session: { accountId: string }
  }
}): Promise<unknown> {
  const { provider, client, session } = context.oidc
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
  grant.addOIDCScope('openid email profile')
  await grant.save()
  return grant
}

async function interact(
  provider: Provider,
  people: Map<string, IdpPerson>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid } = await provider.interactionDetails(request, response)
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(loginPage(uid))
    return
  }
  const form = new URLSearchParams(await bodyOf(request))
  if (form.get('cancel')) {
    const refusal = { error: 'access_denied', error_description: 'The person cancelled' }
    await provider.interactionFinished(request, response, refusal)
    return
  }
  const login = form.get('login') ?? ''
  const person = [...people.values()].find(
    ({ subject, email }) => subject === login || email === login,
  )
  if (!person) {
    response.writeHead(400).end(`Nobody here is called ${encodeURIComponent(login)}`)
    return
  }
  await provider.interactionFinished(request, response, { login: { accountId: person.subject } })
}

const loginPage = (
  uid: string,
): string => `<!doctype html><html lang="en"><title>Test provider</title>
<link rel="icon" href="data:,"><form method="post" action="/interaction/${uid}"><h1>Test provider</h1>
<label>Login <input name="login" autofocus></label> <button>Sign in</button></form>
<form method="post" action="/interaction/${uid}"><button name="cancel" value="1">Cancel</button></form></html>`

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/**
 * Creates storage in memory for the provider. The storage that oidc-provider brings logs warnings and can't change the
 * client's URLs.
 */
function memoryAdapter(clientId: string, client: () => Record<string, unknown>): unknown {
  const rows = new Map<string, Record<string, unknown>>()
  const byUid = new Map<string, string>()
  return class {
    readonly model: string
    constructor(model: string) {
      this.model = model
    }
    async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      rows.set(`${this.model}:${id}`, payload)
      if (typeof payload['uid'] === 'string') byUid.set(`${this.model}:${payload['uid']}`, id)
    }
    async find(id: string): Promise<unknown> {
      if (this.model === 'Client') return id === clientId ? client() : undefined
      return rows.get(`${this.model}:${id}`)
    }
    async findByUid(uid: string): Promise<unknown> {
      return this.find(byUid.get(`${this.model}:${uid}`) ?? '')
    }
    async findByUserCode(): Promise<unknown> {
      return undefined
    }
    async consume(id: string): Promise<void> {
      const row = rows.get(`${this.model}:${id}`)
      if (row) row['consumed'] = Math.floor(Date.now() / 1000)
    }
    async destroy(id: string): Promise<void> {
      rows.delete(`${this.model}:${id}`)
    }
    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, row] of rows) if (row['grantId'] === grantId) rows.delete(key)
    }
  }
}
