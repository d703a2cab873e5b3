import { answerBulk } from './bulk.ts'
import { providerConfig, resourceTypeDocuments, schemaDocuments } from './discovery.ts'
import { ScimError, type ScimType } from './protocol/errors.ts'
import type { DiscoveryRequest, ScimAnswer, ScimDeps, ScimRequest } from './exchange.ts'
import { listEverything, listPlain, listResources } from './lists.ts'
import { askedAttributes, queryOfBody, queryOfUrl } from './query.ts'
import { GroupResources } from './group-resources.ts'
import type { Resources } from './resources.ts'
import { UserResources } from './user-resources.ts'

export type ScimHandler = (request: ScimRequest) => Promise<ScimAnswer>

/** Routes the addresses of RFC 7644 section 3.2, tables 1 and 2. */
export interface ScimRouter {
  /** Finds the handler by method and path alone, so that a 404 or 405 is sent before any body is read. */
  find(method: string, path: readonly string[]): ScimHandler
  /** Like `find`, for a discovery document. */
  findDiscovery(method: string, path: readonly string[]): DiscoveryHandler
}

export type DiscoveryHandler = (request: DiscoveryRequest) => Promise<ScimAnswer>

/** The handlers of an address by method; undefined for an unknown address. */
type Handlers<Handler> = Readonly<Record<string, Handler>> | undefined

const discoveryNames = new Set([
  'serviceproviderconfig',
  // Microsoft's reference code and test collection use this name.
  'serviceconfiguration',
  'resourcetypes',
  'schemas',
])

/** Whether a path leads to a discovery document, which may be read without a token (RFC 7643 section 5). */
export function isDiscovery(path: readonly string[]): boolean {
  return path.length <= 2 && discoveryNames.has(path[0]?.toLowerCase() ?? '')
}

export function createRouter(
  deps: ScimDeps,
  explain: (error: unknown) => { status: number; scimType: ScimType | undefined; detail: string },
): ScimRouter {
  const kinds: Readonly<Record<string, Resources>> = {
    users: new UserResources(deps.directories.users),
    groups: new GroupResources(deps),
  }

  const bulk = { maxOperations: deps.limits.bulkOperations, perform: performInBulk, explain }

  function handlersOf(path: readonly string[]): Handlers<ScimHandler> {
    const [first = '', second] = path
    const name = first.toLowerCase()
    if (path.length > 2) return undefined
    const resources = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (resources !== undefined) return resourceHandlers(deps, resources, second)
    if (second !== undefined && name !== 'me') return undefined
    switch (name) {
      case '':
        return {
          GET: async (request) => await listEverything(deps, request, queryOfUrl(request.query)),
        }
      case '.search':
        return {
          POST: async (request) => await listEverything(deps, request, queryOfBody(request.body)),
        }
      case 'bulk':
        return {
          POST: async (request) => await answerBulk(request, bulk),
        }
      default:
        return undefined
    }
  }

  /** Performs one operation of a bulk request, which must address users or groups. */
  async function performInBulk(request: ScimRequest): Promise<ScimAnswer> {
    const [first = ''] = request.path
    if (!/^(users|groups)$/i.test(first) || request.path.includes('.search')) throw notFound()
    return await find(request.method, request.path)(request)
  }

  function find(method: string, path: readonly string[]): ScimHandler {
    if (path.length <= 2 && path[0]?.toLowerCase() === 'me') throw notImplemented()
    return handlerFor(method, handlersOf(path))
  }

  return {
    find,
    findDiscovery(method, path) {
      const [first = '', second] = path
      return handlerFor(method, discoveryHandlers(deps, first.toLowerCase(), second))
    },
  }
}

function handlerFor<Handler>(method: string, handlers: Handlers<Handler>): Handler {
  if (handlers === undefined) throw notFound()
  // A HEAD is handled as a GET whose body is not sent (RFC 9110 section 9.3.2).
  const handler = handlers[method === 'HEAD' ? 'GET' : method]
  if (handler === undefined) throw notAllowed(Object.keys(handlers))
  return handler
}

function resourceHandlers(
  deps: ScimDeps,
  resources: Resources,
  id: string | undefined,
): Handlers<ScimHandler> {
  const { type } = resources
  if (id === undefined) {
    return {
      GET: async (request) =>
        await listResources(deps, request, { type, query: queryOfUrl(request.query) }),
      POST: async (request) => await resources.create(request),
    }
  }
  if (id.toLowerCase() === '.search') {
    return {
      POST: async (request) =>
        await listResources(deps, request, { type, query: queryOfBody(request.body) }),
    }
  }
  return {
    GET: async (request) => await resources.read(request, id),
    PUT: async (request) => await resources.replace(request, id),
    PATCH: async (request) => await resources.patch(request, id),
    DELETE: async (request) => await resources.remove(request, id),
  }
}

/** The handlers of the discovery documents, which contain nothing about an organization. */
function discoveryHandlers(
  deps: ScimDeps,
  name: string,
  id: string | undefined,
): Handlers<DiscoveryHandler> {
  switch (name) {
    case 'resourcetypes':
      return {
        GET: async ({ query, base }) => discoveryList(query, id, resourceTypeDocuments(base)),
      }
    case 'schemas':
      return { GET: async ({ query, base }) => discoveryList(query, id, schemaDocuments(base)) }
    default:
      if (id !== undefined) return undefined
      return {
        GET: async ({ query, base }) => ({
          status: 200,
          body: providerConfig(deps, base, askedAttributes(query)),
        }),
      }
  }
}

// A filter is refused with 403, so that nobody mistakes the whole list for a filtered one (RFC 7644 section 4).
function discoveryList(
  query: URLSearchParams,
  id: string | undefined,
  documents: readonly Record<string, unknown>[],
): ScimAnswer {
  if (query.has('filter')) {
    throw new ScimError(403, 'The discovery documents cannot be filtered.')
  }
  if (id === undefined) return listPlain(documents)
  const found = documents.find((document) => document['id'] === id)
  if (found === undefined) throw notFound()
  return { status: 200, body: found }
}

function notAllowed(methods: readonly string[]): ScimError {
  const Allow = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).join(', ')
  // RFC 9110 section 15.5.6: a 405 lists the allowed methods.
  return new ScimError(405, `Allowed here: ${Allow}.`, { headers: { Allow } })
}

// /Me is optional (RFC 7644 section 3.11), and a directory's token represents no person.
function notImplemented(): ScimError {
  return new ScimError(501, '/Me is not supported.')
}

function notFound(): ScimError {
  return new ScimError(404, 'There is nothing here.')
}
