/** /scim/v2: the company directory keeps our people in step. */
import type { Problem } from '../errors.ts'
import type { App, AppReply, AppRequest, OwnRefusals } from '../http/index.ts'
import { createGuessLimit } from './guesses.ts'
import { createId } from '../ids.ts'
import { RateLimiter, type Rate } from '../targets/index.ts'
import { createExplain, type Explained } from './explain.ts'
import { errorBody, ScimError, tooMany } from './protocol/errors.ts'
import type { ScimAnswer, ScimLimits, ScimNeeds, ScimRequest } from './exchange.ts'
import { readJson, type Json } from './protocol/json.ts'
import { createRouter } from './router.ts'
import { pathWithoutSecrets, withoutSecrets } from './without-secrets.ts'

const prefix = '/scim/v2'
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const mediaTypes = ['application/scim+json', 'application/json']

const contentType = 'application/scim+json'

/** What this door answers where no route of its own was found: SCIM's error, as everywhere here (RFC 7644 section 3.12). */
export const scimRefusals: OwnRefusals = {
  prefix,
  contentType,
  render({ status, message }) {
    return Buffer.from(JSON.stringify(errorBody(status, undefined, message)))
  },
}

/** Hangs the SCIM door on the app. */
export function registerScim(
  app: App,
  given: Omit<ScimNeeds, 'limits'> & {
    readonly limits: ScimLimits
    /** Wrong tokens of one source; undefined = no limit. */
    readonly failedCredentials: Rate | undefined
    readonly addressOf: (request: AppRequest) => string
    /** Turns what is thrown below into a refusal, if it is one. */
    readonly translate: (error: unknown) => Problem | undefined
    readonly log: { error(fields: object, text: string): void }
  },
): void {
  const explain = createExplain(given.translate)
  const route = createRouter(given, explain)
  const limiter = new RateLimiter()
  const guesses = createGuessLimit({ clock: given.clock, failures: given.failedCredentials })
  const base = `${given.baseUrl}${prefix}`

  // Who asks, settled before the body is read: a stranger's body is never held.
  const settled = new WeakMap<AppRequest, ScimRequest['principal']>()

  async function identify(request: AppRequest, reply: AppReply): Promise<AppReply | undefined> {
    const from = { address: given.addressOf(request), agent: request.headers['user-agent'] }
    try {
      const principal = await guesses.watch(from.address, async () => {
        const token = readToken(request)
        return await given.directories.tokens.identify(token, from)
      })
      settled.set(request, principal)
      return undefined
    } catch (error) {
      const wrong = explain(error)
      logFault(error, wrong, request)
      return sendWrong(request, reply, wrong)
    }
  }

  function logFault(error: unknown, { status }: Explained, request: AppRequest): void {
    if (status < 500 || status === 501) return
    given.log.error({ err: error, request_id: request.id }, 'a SCIM request failed')
  }

  async function answer(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const startedAt = given.clock.monotonic()
    const address = given.addressOf(request)
    const agent = request.headers['user-agent']
    const principal = settled.get(request)
    if (principal === undefined) throw new Error('a SCIM request reached its handler unidentified')
    let done: ScimAnswer | undefined
    let wrong: Explained | undefined
    try {
      spend(principal.tokenId)
      const asked = readRequest(request, principal, { base, address })
      done = await route(asked)
    } catch (error) {
      wrong = explain(error)
      logFault(error, wrong, request)
    }
    const status = done?.status ?? wrong?.status ?? 500
    given.directories.log.note(principal.organizationId, {
      id: createId('req', given.clock.now()),
      tokenId: principal.tokenId,
      at: given.clock.now(),
      method: request.method,
      path: pathWithoutSecrets(request.url.slice(prefix.length) || '/'),
      status,
      scimType: wrong?.scimType,
      detail: wrong?.detail,
      sent: withoutSecrets(request.body as Buffer | undefined),
      durationUs: Math.round((given.clock.monotonic() - startedAt) * 1000),
      address,
      agent: agent?.slice(0, 300),
    })
    if (wrong !== undefined) return sendWrong(request, reply, wrong)
    reply.headers(done?.headers ?? {})
    return done?.body === undefined ? reply.code(status).send() : sendBody(reply, status, done.body)
  }

  function spend(tokenId: string): void {
    const rate = given.limits.requests
    if (rate === undefined) return
    const verdict = limiter.ask(tokenId, rate, given.clock.monotonic(), true)
    if (!verdict.admitted) throw tooMany(verdict.retrySeconds)
  }

  // A scope of its own: every refusal here is SCIM's, and bodies are read by our own reader.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      '*',
      {
        parseAs: 'buffer',
        bodyLimit: Math.max(given.limits.bodyBytes, given.limits.bulkBodyBytes),
      },
      (_request, body, done) => done(null, body),
    )
    scope.setErrorHandler(async (error, request, reply) => {
      return sendWrong(request, reply, explain(error))
    })
    for (const url of [prefix, `${prefix}/*`]) {
      scope.route({
        method: [...methods],
        url,
        exposeHeadRoute: false,
        onRequest: identify,
        handler: answer,
      })
    }
  })

  function readRequest(
    request: AppRequest,
    principal: ScimRequest['principal'],
    at: { base: string; address: string },
  ): ScimRequest {
    const [below, search] = splitOnce(request.url.slice(prefix.length), '?')
    // Some clients put a whole `$ref` or location behind the address they were given.
    const path = below.startsWith(`/${at.base}/`) ? below.slice(at.base.length + 1) : below
    const segments = path.split('/').slice(1)
    // One slash at the end is forgiven, as IdPs are given the address with and without it.
    if (segments.at(-1) === '') segments.pop()
    return {
      method: request.method,
      path: segments.map(decode),
      query: new URLSearchParams(search),
      body: readBody(request, segments[0]?.toLowerCase() === 'bulk'),
      ifMatch: request.headers['if-match'],
      ifNoneMatch: request.headers['if-none-match'],
      principal,
      actor: {
        kind: 'directory',
        id: principal.tokenId,
        name: principal.name,
        address: at.address,
        requestId: request.id,
      },
      base: at.base,
    }
  }

  function readBody(request: AppRequest, isBulk: boolean): Json | undefined {
    const bytes = request.body as Buffer | undefined
    if (bytes === undefined || bytes.length === 0) return undefined
    if (request.headers['content-encoding'] !== undefined) {
      throw new ScimError(415, undefined, 'A body with Content-Encoding is not taken.')
    }
    const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
    if (request.method === 'GET' || request.method === 'DELETE') return undefined
    if (type === undefined || !mediaTypes.includes(type)) {
      throw new ScimError(415, undefined, `The content type must be ${mediaTypes.join(' or ')}.`)
    }
    const most = isBulk ? given.limits.bulkBodyBytes : given.limits.bodyBytes
    if (bytes.length > most) {
      throw new ScimError(413, 'tooMany', `The body has more than ${most} bytes.`)
    }
    return readJson(bytes)
  }
}

/** The token of the one Authorization header (RFC 6750 section 2.1); never from anywhere else. */
function readToken(request: AppRequest): string {
  const values = authorizations(request)
  if (values.length > 1) throw new ScimError(401, undefined, 'More than one credential was sent.')
  const match = /^bearer +([^ \t,"]+) *$/i.exec(values[0] ?? '')
  if (match?.[1] === undefined) {
    throw new ScimError(401, undefined, 'Send the SCIM token as Authorization: Bearer <token>.')
  }
  return match[1]
}

function readsToken(request: AppRequest): boolean {
  return authorizations(request).length > 0
}

// The parsed headers would keep the first of two silently.
function authorizations(request: AppRequest): string[] {
  const flat = request.raw.rawHeaders
  return flat.filter((_, at) => at % 2 === 1 && flat[at - 1]?.toLowerCase() === 'authorization')
}

function sendBody(reply: AppReply, status: number, body: Record<string, unknown>): AppReply {
  // Bytes, so that no charset is added to the type (RFC 7644 section 8.1).
  return reply
    .code(status)
    .header('Content-Type', contentType)
    .send(Buffer.from(JSON.stringify(body)))
}

function sendWrong(request: AppRequest, reply: AppReply, wrong: Explained): AppReply {
  const { status, code, scimType, detail, headers } = wrong
  reply.header('Intercept-Refused', code)
  if (status === 401) {
    const fault = readsToken(request) ? ', error="invalid_token"' : ''
    reply.header('WWW-Authenticate', `Bearer realm="intercept scim"${fault}`)
  }
  return sendBody(reply.headers(headers), status, errorBody(status, scimType, detail))
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(segment: string): string {
  let text: string | undefined
  try {
    text = decodeURIComponent(segment)
  } catch {}
  // PostgreSQL has no text with U+0000: nothing is called that.
  if (text === undefined || text.includes('\0')) {
    throw new ScimError(404, undefined, 'There is nothing here.')
  }
  return text
}
