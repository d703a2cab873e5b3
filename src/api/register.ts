import { Readable } from 'node:stream'
import { Problem } from '../errors.ts'
import {
  checkContentType,
  checkSameOrigin,
  searchOf,
  type App,
  type AppReply,
  type AppRequest,
} from '../http/index.ts'
import { admit, noteDenial, type Admitted } from './core/admit.ts'
import { actorOf, callerId, personOf } from './core/caller.ts'
import { checkBody, checkText } from './core/body.ts'
import { compressAnswer } from './core/compress.ts'
import { once } from './core/idempotency.ts'
import { parseQuery } from './core/query.ts'
import type { Actor } from '../store/index.ts'
import type { Services } from './core/services.ts'
import {
  Answered,
  Streamed,
  type AnyRoute,
  type ManagedThing,
  type RouteRequest,
  type RouteTable,
} from './core/route.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export function registerRoutes(
  app: App,
  table: RouteTable,
  deps: {
    readonly prefix: string
    readonly services: Services
    readonly addressOf: (request: AppRequest) => string
  },
): void {
  for (const [name, route] of Object.entries(table)) {
    const [method, path] = name.split(' ') as [Method, string]
    registerRoute(app, { name, method, url: deps.prefix + path, route }, deps)
  }
}

interface Registration {
  readonly name: string
  readonly method: Method
  readonly url: string
  readonly route: AnyRoute
}

function registerRoute(
  app: App,
  registration: Registration,
  deps: { readonly services: Services; readonly addressOf: (request: AppRequest) => string },
): void {
  const [{ route }, { services }] = [registration, deps]
  const admitted = new WeakMap<AppRequest, Admitted>()
  app.route({
    method: registration.method,
    url: registration.url,
    attachValidation: true,
    ...optionsOf(registration),
    // Runs before the body is read, so that the body of an unauthenticated request is never parsed.
    onRequest: async (request) => {
      const params = request.params as Record<string, string>
      for (const value of Object.values(params)) checkText(value)
      const caller = {
        cookieHeader: request.headers.cookie,
        authorization: authorizationOf(request),
        address: deps.addressOf(request),
        agent: request.headers['user-agent'],
        organization: params['organization'],
        requestId: request.id,
      }
      admitted.set(request, await admit(route, caller, services))
      if (registration.method === 'GET') return
      // Another origin's page can't send a token that it does not know, so only cookies need the origin check.
      const isToken = admitted.get(request)?.caller?.kind === 'token'
      if (!route.anyOrigin && !isToken) checkSameOrigin(request.headers, services.baseUrl)
      checkContentType(request.headers, announcesBody(request))
    },
    preValidation: async (request) => {
      const search = searchOf(request.url)
      checkText(search)
      request.query = parseQuery(route, search)
      checkBody(request.query, services.jsonDepth)
      checkBody(request.body, services.jsonDepth)
    },
    handler: async (request, reply) => {
      checkValidation(request)
      const who = admitted.get(request)
      const address = deps.addressOf(request)
      const given = toRouteRequest(request, reply, { admitted: who, address })
      try {
        if (route.managed !== undefined) await refuseManaged(route.managed, given, services)
        await route.check?.(given as never, services)
        const handle = async () => await route.handle(given as never, services)
        return await send(
          reply,
          registration,
          await handleOnce(registration, { request, given }, { services, handle }),
        )
      } catch (error) {
        noteDenial(error, { organization: who?.organization, actor: given.actor }, services)
        throw error
      }
    },
  })
}

function optionsOf({ method, route }: Registration) {
  // A response that may contain a secret is never compressed: if it also contains text that somebody else chose, its
  // compressed length could help to guess the secret.
  const compresses = method === 'GET' && !route.freshSignIn && route.permission !== 'anyone'
  return {
    schema: schemaOf(route),
    ...(route.maxBodyBytes === undefined ? {} : { bodyLimit: route.maxBodyBytes }),
    ...(compresses ? { onSend: compressAnswer } : {}),
  }
}

function schemaOf({ body, query, answer, status }: AnyRoute) {
  return {
    ...(body ? { body } : {}),
    ...(query ? { querystring: query } : {}),
    ...(answer ? { response: { [status]: answer } } : {}),
  }
}

/** Refuses to change a thing that a file manages: the file's next apply would silently undo the change. */
async function refuseManaged(
  { section, param: name }: ManagedThing,
  { organization, param }: RouteRequest,
  { configurations }: Services,
): Promise<void> {
  const idOrName = section === 'organization' ? organization.id : param(name)
  await configurations.requireUnmanaged(organization.id, { section, idOrName })
}

async function handleOnce(
  registration: Registration,
  { request, given }: { readonly request: AppRequest; readonly given: RouteRequest },
  how: { readonly services: Services; readonly handle: () => Promise<unknown> },
): Promise<unknown> {
  const key = request.headers['idempotency-key']
  if (
    registration.route.status !== 201 ||
    registration.route.permission === 'anyone' ||
    key === undefined
  ) {
    return await how.handle()
  }
  const creation = {
    callerId: callerId(given.caller),
    key: String(key),
    route: registration.name,
    request: `${request.url} ${JSON.stringify(request.body ?? null)}`,
  }
  return await once(how.services, creation, how.handle)
}

function toRouteRequest(
  request: AppRequest,
  reply: AppReply,
  { admitted, address }: { readonly admitted: Admitted | undefined; readonly address: string },
): RouteRequest {
  const params = request.params as Record<string, string>
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return {
    query: request.query,
    body: request.body,
    param(name) {
      const value = params[name]
      if (value === undefined) throw new Error(`the route has no parameter ${name}`)
      return value
    },
    get caller() {
      if (!admitted?.caller) throw new Error('the route is open to anyone')
      return admitted.caller
    },
    get person() {
      return personOf(this.caller)
    },
    get organization() {
      if (!admitted?.organization) throw new Error('the route has no organization')
      return admitted.organization
    },
    get actor(): Actor {
      return actorOf(admitted?.caller, { address, requestId: request.id })
    },
    expectedVersion: versionOf(request.headers['if-match']),
    address,
    agent: request.headers['user-agent'],
    requestId: request.id,
    signal: controller.signal,
  }
}

/** Returns every Authorization header, because Node keeps only the first one in `headers`. */
function authorizationOf({ raw }: AppRequest): string[] {
  return raw.rawHeaders.filter(
    (_, at, all) => at % 2 === 1 && all[at - 1]?.toLowerCase() === 'authorization',
  )
}

/**
 * Returns the version in `If-Match: "7"`. Returns undefined if there is no header or it is `*`: every version then
 * matches (RFC 9110, section 13.1.1).
 */
function versionOf(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const match = /^(?:W\/)?"(\d{1,15})"$/.exec(header.trim())
  if (!match?.[1]) throw new Problem('version_conflict', 'If-Match holds no version of ours.')
  return Number(match[1])
}

async function send(
  reply: AppReply,
  registration: Registration,
  result: unknown,
): Promise<AppReply> {
  reply.code(registration.route.status)
  if (result instanceof Streamed) {
    reply.type(result.contentType)
    if (result.fileName !== undefined) {
      reply.header('Content-Disposition', `attachment; filename="${result.fileName}"`)
    }
    return reply.send(toBytes(result.parts))
  }
  const body = result instanceof Answered ? result.body : result
  if (result instanceof Answered) reply.headers(result.headers)
  const version = (body as { version?: unknown } | undefined)?.version
  if (typeof version === 'number') reply.header('ETag', `"${version}"`)
  return body === undefined ? reply.send() : reply.send(body)
}

const bufferedBytes = 64 * 1024

/** Streams text as bytes, so that the limit on what is buffered counts bytes, not parts of any length. */
function toBytes(parts: AsyncIterable<string>): Readable {
  return Readable.from(parts, { objectMode: false, highWaterMark: bufferedBytes })
}

function announcesBody(request: AppRequest): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
}

interface Fault {
  readonly instancePath: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

function checkValidation(request: AppRequest): void {
  const error = request.validationError
  if (!error) return
  const faults = error.validation as unknown as readonly Fault[]
  const errors = faults.map(({ instancePath, message, params }) => {
    const inside = params['missingProperty'] ?? params['additionalProperty']
    const parts = instancePath.split('/').slice(1)
    if (typeof inside === 'string') parts.push(inside)
    return { field: parts.join('.'), message: message ?? 'is not acceptable' }
  })
  const [first] = errors
  const where = first?.field ? `${first.field} ` : `The ${error.validationContext} `
  throw new Problem('invalid_input', `${where}${first?.message ?? 'is not acceptable'}.`, {
    members: { errors },
  })
}
