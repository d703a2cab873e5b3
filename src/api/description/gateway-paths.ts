import { exampleOf } from './example.ts'

type Json = Record<string, unknown>

const refusals = [400, 401, 403, 404, 405, 429, 503]
const text = { type: 'string' }
const texts = { type: 'array', items: text }
const textsOrNull = { anyOf: [texts, { type: 'null' }] }

const WhoAmI = {
  type: 'object',
  required: ['organization', 'key', 'targets'],
  properties: {
    organization: {
      type: 'object',
      required: ['id', 'slug'],
      properties: { id: text, slug: text },
    },
    key: {
      type: 'object',
      required: ['id', 'name', 'hint', 'scheme', 'header', 'grants', 'cidrs', 'expires_at'],
      properties: {
        ...{ id: text, name: text, hint: text },
        scheme: { type: 'string', enum: ['x-api-key', 'bearer'] },
        header: text,
        grants: {
          anyOf: [
            {
              type: 'array',
              items: {
                type: 'object',
                required: ['target'],
                properties: { target: text, methods: texts },
              },
            },
            { type: 'null' },
          ],
        },
        cidrs: textsOrNull,
        expires_at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
      },
    },
    targets: {
      type: 'array',
      items: {
        type: 'object',
        required: ['slug', 'name', 'url', 'methods', 'disabled'],
        properties: {
          ...{ slug: text, name: text, url: text },
          methods: textsOrNull,
          disabled: { type: 'boolean' },
        },
      },
    },
  },
}

const check = `The decision alone, for nginx auth_request, Traefik ForwardAuth, Caddy forward_auth and Envoy ext_authz. \
The call in question is told by X-Original-Method and X-Original-URI, or by X-Forwarded-Method and X-Forwarded-Uri.`

/** Describes the gateway's own endpoints for callers with an API key: whoami and the decision endpoint. */
export function gatewayPaths(): Record<string, Json> {
  const responses = Object.fromEntries(
    refusals.map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
  )
  const common = {
    tags: ['guarded calls'],
    security: [{ api_key: [] }, { bearer_key: [] }],
    'x-permission': 'key',
  }
  return {
    '/intercept': {
      get: {
        operationId: 'whoAmI',
        summary: 'whoami: the key, its organization, and the targets that it may call',
        ...common,
        responses: {
          200: {
            description: 'The key and what it may call',
            headers: requestIdHeader,
            content: { 'application/json': { schema: WhoAmI, example: exampleOf(WhoAmI) } },
          },
          ...responses,
        },
      },
    },
    '/intercept/-/check': {
      get: {
        operationId: 'checkCall',
        summary: 'Would this call pass?',
        description: check,
        ...common,
        parameters: [
          parameter('target', 'query', 'The target, where the path does not name it.'),
          parameter('X-Original-Method', 'header', 'The method of the call in question.'),
          parameter('X-Original-URI', 'header', 'Its path and query.'),
        ],
        responses: {
          200: { description: 'It would pass; the headers say who calls', headers: callerHeaders },
          ...responses,
        },
      },
    },
  }
}

const requestIdHeader = {
  'Intercept-Request-Id': { $ref: '#/components/headers/Intercept-Request-Id' },
}

const callerHeaders = {
  ...requestIdHeader,
  'Intercept-Organization': { description: 'Its slug.', schema: text, example: 'acme' },
  'Intercept-Key-Id': {
    description: 'The key.',
    schema: text,
    example: 'key_01kfxq3v5w2m8r4t6y0z9abcde',
  },
}

function parameter(name: string, where: 'query' | 'header', description: string): Json {
  const examples: Readonly<Record<string, string>> = {
    target: 'payments',
    'X-Original-Method': 'GET',
    'X-Original-URI': '/v1/charges',
  }
  return { name, in: where, required: false, description, schema: text, example: examples[name] }
}
