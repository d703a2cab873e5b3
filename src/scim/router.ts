import { answerBulk } from './bulk.ts'
import { providerConfig, resourceTypeDocuments, schemaDocuments } from './discovery.ts'
import { ScimError, type ScimType } from './protocol/errors.ts'
import type { ScimAnswer, ScimNeeds, ScimRequest } from './exchange.ts'
import { listEverything, listPlain, listResources } from './lists.ts'
import { askedAttributes, queryOfBody, queryOfUrl } from './query.ts'
import { createGroupDoor, createUserDoor, type ResourceDoor } from './resources.ts'

/** Finds what a request asks for and does it. */
export type ScimRouter = (request: ScimRequest) => Promise<ScimAnswer>

/** The addresses of RFC 7644 section 3.2, table 1 and 2. */
export function createRouter(
  needs: ScimNeeds,
  explain: (error: unknown) => { status: number; scimType: ScimType | undefined; detail: string },
): ScimRouter {
  const doors: Readonly<Record<string, ResourceDoor>> = {
    users: createUserDoor(needs),
    groups: createGroupDoor(needs),
  }

  return async function route(request) {
    const [first = '', second, ...rest] = request.path
    const name = first.toLowerCase()
    if (rest.length > 0) throw notFound()
    const door = Object.hasOwn(doors, name) ? doors[name] : undefined
    if (door !== undefined) return await atDoor(needs, door, request, second)
    switch (name) {
      case '':
        allow(request, 'GET')
        return await listEverything(needs, request, queryOfUrl(request.query))
      case '.search':
        allow(request, 'POST')
        return await listEverything(needs, request, queryOfBody(request.body))
      case 'bulk':
        allow(request, 'POST')
        return await answerBulk(needs, request, resourcesOnly(route), explain)
      case 'me':
        // RFC 7644 section 3.11: not every service has a "me"; a directory's token is nobody.
        throw new ScimError(501, undefined, '/Me is not supported.')
      case 'serviceproviderconfig':
      // Its name in Microsoft's reference code and collection.
      case 'serviceconfiguration':
        return discovery(request, second, () =>
          providerConfig(needs, request.base, askedAttributes(request.query)),
        )
      case 'resourcetypes':
        return discoveryList(request, second, resourceTypeDocuments(request.base))
      case 'schemas':
        return discoveryList(request, second, schemaDocuments(request.base))
      default:
        throw notFound()
    }
  }
}

async function atDoor(
  needs: ScimNeeds,
  door: ResourceDoor,
  request: ScimRequest,
  id: string | undefined,
): Promise<ScimAnswer> {
  if (id === undefined) {
    allow(request, 'GET', 'POST')
    if (request.method === 'POST') return await door.create(request)
    return await listResources(needs, request, door.type, queryOfUrl(request.query))
  }
  if (id.toLowerCase() === '.search') {
    allow(request, 'POST')
    return await listResources(needs, request, door.type, queryOfBody(request.body))
  }
  allow(request, 'GET', 'PUT', 'PATCH', 'DELETE')
  switch (request.method) {
    case 'GET':
      return await door.read(request, id)
    case 'PUT':
      return await door.replace(request, id)
    case 'PATCH':
      return await door.patch(request, id)
    default:
      return await door.remove(request, id)
  }
}

/** A bulk request changes users and groups; nothing else is reached through it. */
function resourcesOnly(route: ScimRouter): ScimRouter {
  return async (request) => {
    const [first = ''] = request.path
    if (!/^(users|groups)$/i.test(first) || request.path.includes('.search')) throw notFound()
    return await route(request)
  }
}

// RFC 7644 section 4: the parameters of a query are passed over on these addresses; a filter on a list is
// answered with 403, so that nobody takes the whole list for what was asked for. `attributes` adds what
// /ServiceProviderConfig returns on request.
function discovery(
  request: ScimRequest,
  id: string | undefined,
  document: () => Record<string, unknown>,
): ScimAnswer {
  allow(request, 'GET')
  if (id !== undefined) throw notFound()
  return { status: 200, body: document() }
}

function discoveryList(
  request: ScimRequest,
  id: string | undefined,
  documents: readonly Record<string, unknown>[],
): ScimAnswer {
  allow(request, 'GET')
  if (request.query.has('filter')) {
    throw new ScimError(403, undefined, 'The discovery documents cannot be filtered.')
  }
  if (id === undefined) return listPlain(documents)
  const found = documents.find((document) => document['id'] === id)
  if (found === undefined) throw notFound()
  return { status: 200, body: found }
}

function allow(request: ScimRequest, ...methods: readonly string[]): void {
  if (methods.includes(request.method)) return
  const Allow = methods.join(', ')
  // RFC 9110 section 15.5.6: a 405 says what is allowed.
  throw new ScimError(405, undefined, `Allowed here: ${Allow}.`, { Allow })
}

function notFound(): ScimError {
  return new ScimError(404, undefined, 'There is nothing here.')
}
