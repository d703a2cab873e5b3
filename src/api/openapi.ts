import { sessionCookieName } from '../access/index.ts'
import { problems } from '../errors.ts'
import type { AnyRoute, RouteTable } from './core/route.ts'

type Json = Record<string, unknown>

/** The table of routes as an OpenAPI 3.1 document; schemas with a title become components. */
export function describeRoutes(
  table: RouteTable,
  where: { baseUrl: string; version: string },
): Json {
  const schemas = new Map<string, unknown>()
  const paths: Record<string, Json> = {}
  for (const [name, route] of Object.entries(table)) {
    const [method = '', pattern = ''] = name.split(' ')
    const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
    const operations = (paths[path] ??= {})
    operations[method.toLowerCase()] = describeRoute(method, pattern, route, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Intercept',
      version: where.version,
      summary: 'The JSON API behind the dashboard.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${where.baseUrl}/api/v1` }],
    security: [{ session: [] }, { token: [] }],
    paths,
    components: {
      schemas: { Problem, ...Object.fromEntries(schemas) },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_admin_…',
          description: 'An access token; what it may do are its permissions.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName,
          description: 'Set by the sign-in. Requests that change something also send our Origin.',
        },
      },
      responses: {
        Problem: {
          description: 'A refusal (RFC 9457)',
          content: { 'application/problem+json': { schema: ref('Problem') } },
        },
      },
    },
  }
}

const Problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(problems) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

function describeRoute(
  method: string,
  pattern: string,
  route: AnyRoute,
  schemas: Map<string, unknown>,
): Json {
  const described: Json = {
    operationId: operationId(method, pattern),
    summary: route.summary,
    tags: [tagOf(pattern)],
    parameters: [...pathParameters(pattern), ...queryParameters(route, schemas)],
    responses: {
      [route.status]: answerOf(route, schemas),
      default: { $ref: '#/components/responses/Problem' },
    },
    'x-permission': route.permission,
  }
  if (route.freshSignIn) described['x-fresh-sign-in'] = true
  if (route.permission === 'anyone') described['security'] = []
  if (route.permission === 'signed-in') described['security'] = [{ session: [] }]
  if (route.permission === 'operator') described['security'] = [{ token: [] }]
  if (route.body) {
    const schema = named(route.body, schemas)
    described['requestBody'] = { required: true, content: { 'application/json': { schema } } }
  }
  return described
}

function answerOf(route: AnyRoute, schemas: Map<string, unknown>): Json {
  if (route.streams.length > 0) {
    const content = route.streams.map((type) => [type, { schema: { type: 'string' } }])
    return { description: route.summary, content: Object.fromEntries(content) }
  }
  if (!route.answer) return { description: 'Done' }
  const schema = named(route.answer, schemas)
  return { description: route.summary, content: { 'application/json': { schema } } }
}

function pathParameters(pattern: string): Json[] {
  return [...pattern.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(route: AnyRoute, schemas: Map<string, unknown>): Json[] {
  const { properties = {} } = (route.query ?? {}) as { properties?: Record<string, unknown> }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: named(schema, schemas),
    // Lists are one parameter, parted by commas.
    ...((schema as Json)['type'] === 'array' ? { style: 'form', explode: false } : {}),
  }))
}

/** A copy of a schema in which every part with a title is a reference to a component. */
function named(schema: unknown, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((part: unknown) => named(part, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, named(part, schemas)]),
  )
  const { title } = copy
  if (typeof title !== 'string') return copy
  schemas.set(title, copy)
  return ref(title)
}

function ref(title: string): Json {
  return { $ref: `#/components/schemas/${title}` }
}

function operationId(method: string, pattern: string): string {
  const words = pattern.split(/[/:.-]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map(capitalized)].join('')
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** The noun that a route is about: what follows the organization, or the first word. */
function tagOf(pattern: string): string {
  const [, first = '', , noun] = pattern.split('/')
  return first === 'organizations' && noun !== undefined ? noun : first
}
