import { sessionCookieName } from '../../access/index.ts'
import { problems } from '../../errors.ts'
import { eventTypes } from '../../webhooks/index.ts'
import type { AnyRoute, RouteTable } from '../core/route.ts'
import { headers, refusalResponses, refusalsOf, requestHeaders } from './answers.ts'
import { exampleOf } from './example.ts'
import { gatewayPaths } from './gateway-paths.ts'
import { operationId } from './operation-id.ts'

type Json = Record<string, unknown>

/** Describes the table of routes as an OpenAPI 3.1 document; schemas with a title become components. */
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
    operations[method.toLowerCase()] = describeRoute({ method, pattern, route }, schemas)
  }
  Object.assign(paths, gatewayPaths())
  return {
    openapi: '3.1.0',
    info: {
      title: 'Intercept',
      version: where.version,
      summary: 'The JSON API behind the dashboard and for programs.',
      description:
        'Lists answer items and next, which goes into after. Refusals are problem documents (RFC 9457): decide by their code.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${where.baseUrl}/api/v1` }],
    security: [{ session: [] }, { token: [] }],
    tags: tagsOf(paths),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: { Problem, ...Object.fromEntries(schemas) },
      securitySchemes,
      parameters: requestHeaders,
      headers,
      responses: refusalResponses(where.baseUrl),
    },
  }
}

const securitySchemes = {
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
  api_key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key of scheme x-api-key; for guarded calls only.',
  },
  bearer_key: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sk_live_…',
    description: 'An API key of scheme bearer; for guarded calls only.',
  },
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
  { method, pattern, route }: { method: string; pattern: string; route: AnyRoute },
  schemas: Map<string, unknown>,
): Json {
  const described: Json = {
    operationId: operationId(method, pattern),
    summary: route.summary,
    tags: [tagOf(pattern)],
    parameters: [
      ...pathParameters(pattern),
      ...queryParameters(route, schemas),
      ...headerParameters(method, route),
    ],
    responses: { [route.status]: answerOf(route, schemas), ...refusalsOf(route, method) },
    'x-permission': route.permission,
  }
  if (route.freshSignIn) described['x-fresh-sign-in'] = true
  if (route.permission === 'anyone') described['security'] = []
  if (route.permission === 'signed-in') described['security'] = [{ session: [] }]
  if (route.permission === 'operator') described['security'] = [{ token: [] }]
  if (route.body) {
    const schema = named(route.body, schemas)
    const content = { 'application/json': { schema, example: exampleOf(route.body) } }
    described['requestBody'] = { required: true, content }
  }
  return described
}

function answerOf(route: AnyRoute, schemas: Map<string, unknown>): Json {
  const names = ['Intercept-Request-Id', ...(hasVersion(route) ? ['ETag'] : [])]
  const refs = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  const answer = { description: route.summary, headers: Object.fromEntries(refs) as Json }
  if (route.streams.length > 0) {
    const content = route.streams.map((type) => [
      type,
      { schema: { type: 'string' }, example: streamExample(type) },
    ])
    return { ...answer, content: Object.fromEntries(content) }
  }
  if (!route.answer) return { ...answer, description: 'Done' }
  const schema = named(route.answer, schemas)
  const content = { 'application/json': { schema, example: exampleOf(route.answer) } }
  return { ...answer, content }
}

function streamExample(type: string): string {
  if (type === 'text/event-stream') return 'event: call\ndata: {"id":"req_…"}\n\n'
  return type === 'text/csv' ? 'time,method,path\n' : '{"id":"req_…"}\n'
}

function hasVersion({ answer }: AnyRoute): boolean {
  const { properties = {} } = (answer ?? {}) as { properties?: Record<string, unknown> }
  return 'version' in properties
}

function pathParameters(pattern: string): Json[] {
  return [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: name === 'organization' ? 'acme' : exampleOf({ type: 'string' }, `${name}_id`),
  }))
}

function queryParameters(route: AnyRoute, schemas: Map<string, unknown>): Json[] {
  const { properties = {} } = (route.query ?? {}) as { properties?: Record<string, unknown> }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: named(schema, schemas),
    // A list is a single parameter with commas between its items, unless it is repeated.
    ...((schema as Json)['type'] === 'array'
      ? { style: 'form', explode: route.repeated.includes(name) }
      : {}),
  }))
}

function headerParameters(method: string, route: AnyRoute): Json[] {
  if (route.status === 201 && route.permission !== 'anyone') {
    return [{ $ref: '#/components/parameters/IdempotencyKey' }]
  }
  const edits = ['PATCH', 'PUT'].includes(method) && hasVersion(route)
  return edits ? [{ $ref: '#/components/parameters/IfMatch' }] : []
}

/** Describes each event type as the request that endpoints receive (OpenAPI 3.1, section 4.8.1). */
function webhooks(): Json {
  return Object.fromEntries(
    eventTypes.map(({ type, description, schema, sample }) => [
      type,
      {
        post: {
          operationId: `on_${type.replaceAll('.', '_')}`,
          summary: description,
          tags: ['webhooks'],
          security: [],
          parameters: deliveryHeaders,
          requestBody: {
            required: true,
            content: { 'application/json': { schema, example: sample } },
          },
          responses: {
            '2XX': { description: 'Received; anything else is tried again' },
            410: { description: 'Send nothing any more: the endpoint is switched off' },
          },
        },
      },
    ]),
  )
}

const deliveryHeaders = [
  ['webhook-id', 'evt_01kfxq3v5w2m8r4t6y0z9abcde', 'The same on every attempt.'],
  ['webhook-timestamp', '1795253400', 'Seconds of this attempt.'],
  ['webhook-signature', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=', 'Standard Webhooks.'],
].map(([name, example, description]) => ({
  ...{ name, in: 'header', required: true, description, example },
  schema: { type: 'string' },
}))

/** Copies a schema, replacing every part that has a title with a reference to a component. */
function named(schema: unknown, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((part: unknown) => named(part, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, named(part, schemas)]),
  )
  const { title } = copy
  if (typeof title !== 'string') return copy
  schemas.set(title, copy)
  return { $ref: `#/components/schemas/${title}` }
}

/** Returns the noun that a route is about: the word after the organization, otherwise the first word. */
function tagOf(pattern: string): string {
  const [, first = '', , noun] = pattern.split('/')
  return first === 'organizations' && noun !== undefined ? noun : first
}

function tagsOf(paths: Readonly<Record<string, Json>>): Json[] {
  const operations = Object.values(paths).flatMap((one) => Object.values(one) as Json[])
  const names = new Set(operations.flatMap((one) => one['tags'] as string[]))
  return [...names, 'webhooks']
    .filter((name, at, all) => all.indexOf(name) === at)
    .toSorted()
    .map((name) => ({ name, description: `Everything about ${name.replaceAll('-', ' ')}.` }))
}
