import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../../errors.ts'
import { readJsonBody } from './json-body.ts'
import { lazyCompilers } from './lazy-compilers.ts'
import { ownRefusalsOf, renderProblem, type OwnRefusals } from './problem.ts'

/** Fastify's types for the other folders, which may not import Fastify themselves. */
export type App = FastifyInstance
export type AppRequest = FastifyRequest
export type AppReply = FastifyReply

/** A completed request outside the gateway. */
export interface RequestEnd {
  readonly area: 'api' | 'scim' | 'sign-in' | 'pages'
  readonly method: string
  /** The route's pattern, which contains no ids; empty if no route matched. */
  readonly route: string
  /** The path without the query string; the route's pattern instead if the path contains a token. */
  readonly path: string
  readonly status: number
  /** The problem code, if we refused the request. */
  readonly refusal: string | undefined
  readonly tookMs: number
  readonly request: AppRequest
}

interface AppDeps {
  readonly baseUrl: string
  readonly bodyLimitBytes: number
  readonly requestIdOf: (request: IncomingMessage) => string
  /** Converts errors of lower layers, such as an unreachable database, into a problem; undefined for other errors. */
  readonly translate: (error: unknown) => Problem | undefined
  /** Entry points whose protocol has its own error format; all others send problems (RFC 9457). */
  readonly ownRefusals?: readonly OwnRefusals[]
  readonly log: { error(fields: object, text: string): void }
  /** Counts a request refused because the database is unreachable: an outage is logged once, not for each request. */
  readonly refusedByStorage: (cause: unknown) => void
  readonly onEnd?: (end: RequestEnd) => void
}

/** Creates the Fastify app for everything outside the gateway, with strict parsing and our own problem responses. */
export function createApp(deps: AppDeps): App {
  const refuse = refuserOf(deps)
  const { onEnd } = deps
  const app = Fastify({
    genReqId: (request) => deps.requestIdOf(request),
    logger: false,
    bodyLimit: deps.bodyLimitBytes,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    // No hooks run for a URL that the router cannot decode, so what they do for other requests is done here.
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(deps, request, reply)
      if (onEnd !== undefined) reply.raw.once('finish', () => onEnd(endOf(request, reply)))
      void refuse(request, reply, asProblem(error))
    },
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 300 },
    schemaController: { compilersFactory: lazyCompilers },
    ajv: {
      // Fastify's defaults would silently drop unknown members and convert 1 to "1".
      customOptions: {
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: true,
        allErrors: false,
      },
    },
  })

  // Fastify's JSON parser accepts duplicate members and invalid UTF-8, which another parser could read differently.
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => readJsonBody(body),
  )
  app.setErrorHandler((error, request, reply) => {
    const problem = deps.translate(error) ?? asProblem(error)
    if (problem.code === 'storage_unavailable') deps.refusedByStorage(error)
    else if (problem.status >= 500) {
      deps.log.error({ err: error, request_id: request.id }, 'a request failed')
    }
    return refuse(request, reply, problem)
  })
  app.setNotFoundHandler((request, reply) => refuse(request, reply, new Problem('not_found')))
  app.addHook('onSend', async (request, reply) => setCommonHeaders(deps, request, reply))
  if (onEnd !== undefined) {
    app.addHook('onResponse', async (request, reply) => onEnd(endOf(request, reply)))
  }
  return app
}

function setCommonHeaders({ baseUrl }: AppDeps, request: AppRequest, reply: AppReply): void {
  const isHttps = baseUrl.startsWith('https:')
  reply.header('Intercept-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
  if (isHttps) reply.header('Strict-Transport-Security', 'max-age=63072000')
  if (!reply.hasHeader('Cache-Control')) reply.header('Cache-Control', 'no-store')
}

/** Returns a function that sends refusals in the error format of the entry point that the URL belongs to. */
function refuserOf({
  ownRefusals,
  baseUrl,
}: AppDeps): (request: FastifyRequest, reply: FastifyReply, problem: Problem) => FastifyReply {
  return (request, reply, problem) => {
    const own = ownRefusalsOf(ownRefusals, request.url)
    if (own === undefined) return sendProblem(reply, problem, { requestId: request.id, baseUrl })
    reply
      .code(problem.status)
      .headers(problem.headers ?? {})
      .header('Content-Type', own.contentType)
    return reply.header('Intercept-Refused', problem.code).send(Buffer.from(own.render(problem)))
  }
}

function endOf(request: AppRequest, reply: AppReply): RequestEnd {
  const refusal = reply.getHeader('Intercept-Refused')
  const [path = ''] = request.url.split('?', 1)
  const route = request.routeOptions.url ?? ''
  return {
    area: areaOf(path),
    method: request.method,
    route,
    // The path may contain an invitation's token, which must not reach the log.
    path: route.includes(':token') ? route : path,
    status: reply.statusCode,
    refusal: refusal === undefined ? undefined : String(refusal),
    tookMs: reply.elapsedTime,
    request,
  }
}

function areaOf(path: string): RequestEnd['area'] {
  if (path.startsWith('/scim/')) return 'scim'
  if (path.startsWith('/api/v1/auth/')) return 'sign-in'
  return path.startsWith('/api/') ? 'api' : 'pages'
}

/** The IP address of the connection's other end; an IPv4-mapped IPv6 address is returned as IPv4. */
export function peerAddress(request: AppRequest): string {
  const address = request.raw.socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** Returns the handler that passes requests from the front server to the app, which never listens itself. */
export function answerWith(app: App): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => app.routing(request, response)
}

function sendProblem(
  reply: FastifyReply,
  problem: Problem,
  context: { requestId: string; baseUrl: string },
): FastifyReply {
  const rendered = renderProblem(problem, context)
  reply.code(rendered.status)
  for (let at = 0; at + 1 < rendered.headers.length; at += 2) {
    const name = rendered.headers[at] ?? ''
    if (name.toLowerCase() !== 'content-length') reply.header(name, rendered.headers[at + 1])
  }
  // Sent as bytes, because Fastify would add a charset to a string, and JSON has none (RFC 8259, section 11).
  return reply.send(Buffer.from(rendered.body))
}

/**
 * Returns a problem as it is, and maps Fastify's own errors to problems. Any other error is a bug of ours, and becomes
 * `internal_error`.
 */
function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, validation, message } = error as {
    code?: string
    validation?: unknown
    message?: string
  }
  if (validation !== undefined) return new Problem('invalid_input', message)
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('body_too_large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('unsupported_media_type')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('bad_request', 'The request body is not as long as it says it is.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('bad_request', 'The URL cannot be read: look at its "%" signs.')
    default:
      return new Problem('internal_error', undefined, { cause: error })
  }
}
