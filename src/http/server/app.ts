import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../../errors.ts'
import { readJsonBody } from './json-body.ts'
import { lazyCompilers } from './lazy-compilers.ts'
import { ownRefusalsOf, renderProblem, type OwnRefusals } from './problem.ts'

/** Routes of an entry point, to be registered on the app. */
export type App = FastifyInstance
export type AppRequest = FastifyRequest
export type AppReply = FastifyReply

/** A request outside the guarded area that has been answered. */
export interface RequestEnd {
  readonly area: 'api' | 'scim' | 'sign-in' | 'pages'
  readonly method: string
  /** The route as it is registered, so that no id is in it; empty when no route matched. */
  readonly route: string
  /** Without query. */
  readonly path: string
  readonly status: number
  /** The code of a refusal of ours. */
  readonly refusal: string | undefined
  readonly tookMs: number
  readonly request: AppRequest
}

interface AppDeps {
  readonly baseUrl: string
  readonly bodyLimitBytes: number
  readonly requestIdOf: (request: IncomingMessage) => string
  /** Turns what is thrown below (a database that does not answer) into a refusal, if it is one. */
  readonly translate: (error: unknown) => Problem | undefined
  /** Servers that don't speak of problems; the others' refusals are RFC 9457. */
  readonly ownRefusals?: readonly OwnRefusals[]
  readonly log: { error(fields: object, text: string): void }
  /** Counts a refusal that the database's absence caused: an outage is said once, not request by request. */
  readonly refusedByStorage: (cause: unknown) => void
  /** Is told of every request that has been answered. */
  readonly onEnd?: (end: RequestEnd) => void
}

/** Builds what answers everything outside the guarded area: Fastify with our strictness and our refusals. */
export function createApp(deps: AppDeps): App {
  const refuse = refuserOf(deps)
  const app = Fastify({
    genReqId: (request) => deps.requestIdOf(request),
    logger: false,
    bodyLimit: deps.bodyLimitBytes,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    // A URL that the router cannot decode is refused before any hook or handler of ours runs.
    frameworkErrors: (error, request, reply) => {
      reply.header('Intercept-Request-Id', request.id)
      reply.header('Cache-Control', 'no-store')
      void refuse(request, reply, asProblem(error))
    },
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 300 },
    schemaController: { compilersFactory: lazyCompilers },
    ajv: {
      // Fastify's own choice drops unknown members silently and turns 1 into "1".
      customOptions: {
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: true,
        allErrors: false,
      },
    },
  })

  // Fastify's reader takes doubled members and broken UTF-8: what one reader took would not be what another one sees.
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => readJsonBody(body),
  )
  const isHttps = deps.baseUrl.startsWith('https:')
  app.setErrorHandler((error, request, reply) => {
    const problem = deps.translate(error) ?? asProblem(error)
    if (problem.code === 'storage_unavailable') deps.refusedByStorage(error)
    else if (problem.status >= 500) {
      deps.log.error({ err: error, request_id: request.id }, 'a request failed')
    }
    return refuse(request, reply, problem)
  })
  app.setNotFoundHandler((request, reply) => refuse(request, reply, new Problem('not_found')))
  app.addHook('onSend', async (request, reply) => {
    reply.header('Intercept-Request-Id', request.id)
    reply.header('X-Content-Type-Options', 'nosniff')
    if (isHttps) reply.header('Strict-Transport-Security', 'max-age=63072000')
    if (!reply.hasHeader('Cache-Control')) reply.header('Cache-Control', 'no-store')
  })
  const { onEnd } = deps
  if (onEnd !== undefined) {
    app.addHook('onResponse', async (request, reply) => onEnd(endOf(request, reply)))
  }
  return app
}

/** Refuses in the words of the server that the address belongs to. */
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
  const [asked = ''] = request.url.split('?', 1)
  const route = request.routeOptions.url ?? ''
  return {
    area: areaOf(asked),
    method: request.method,
    route,
    // An invitation's token in a path would let whoever reads the log in.
    path: route.includes(':token') ? route : asked,
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

/** The address at the other end of a request's connection; IPv4 never in IPv6's clothes. */
export function peerAddress(request: AppRequest): string {
  const address = request.raw.socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** Hands a request of the front to the app, which never listens itself. */
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

/** Fastify's own errors by their stable codes; anything else is our bug. */
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
