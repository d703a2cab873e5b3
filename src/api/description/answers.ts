import { problems, type ProblemCode } from '../../errors.ts'
import type { AnyRoute } from '../core/route.ts'

type Json = Record<string, unknown>

/** The statuses with which every route may refuse, except 413 and 415 for GET. */
const always = [400, 404, 405, 413, 414, 415, 429, 431, 500, 503]

/** Returns the refusals that a route may return, by status, as references to components. */
export function refusalsOf(route: AnyRoute, method: string): Json {
  const isOpen = route.permission === 'anyone'
  const statuses = [
    ...always.filter((status) => method !== 'GET' || (status !== 413 && status !== 415)),
    ...(isOpen ? [] : [401, 403]),
    ...(method === 'GET' ? [] : [403, 409]),
    ...(['PATCH', 'PUT'].includes(method) ? [412] : []),
    ...(reachesOut(route) ? [502, 504] : []),
  ]
  return Object.fromEntries(
    [...new Set(statuses)]
      .toSorted((a, b) => a - b)
      .map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
  )
}

/** Whether a route may call an upstream or an identity provider, guessed from the words of its summary. */
function reachesOut({ summary }: AnyRoute): boolean {
  return /provider|upstream|discover|connection/i.test(summary)
}

/** Describes every refusal by status, with its possible codes and an example. */
export function refusalResponses(baseUrl: string): Json {
  const byStatus = Map.groupBy(Object.entries(problems), ([, { status }]) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      `Refused${status}`,
      {
        description: `One of ${found.map(([code]) => code).join(', ')} (RFC 9457)`,
        headers: refusalHeaders(status),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            example: exampleOf(found[0]?.[0] as ProblemCode, baseUrl),
          },
        },
      },
    ]),
  )
}

function refusalHeaders(status: number): Json {
  const refs = (names: readonly string[]): Json =>
    Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const common = refs(['Intercept-Request-Id', 'Intercept-Refused'])
  if (status === 401) return { ...common, ...refs(['WWW-Authenticate']) }
  if (status === 429) {
    return { ...common, ...refs(['Retry-After', 'RateLimit', 'RateLimit-Policy']) }
  }
  return status === 503 ? { ...common, ...refs(['Retry-After']) } : common
}

function exampleOf(code: ProblemCode, baseUrl: string): Json {
  const { status, title } = problems[code]
  return {
    type: `${baseUrl}/problems/${code}`,
    ...{ title, status, detail: `${title}.`, code },
    request_id: 'req_01kfxq3v5w2m8r4t6y0z9abcde',
  }
}

const text = { type: 'string' }

export const headers: Json = {
  'Intercept-Request-Id': {
    description: 'Names this request in logs, audit entries and call records.',
    schema: text,
    example: 'req_01kfxq3v5w2m8r4t6y0z9abcde',
  },
  'Intercept-Refused': {
    description: 'The refusal was made here, not by the upstream: its code.',
    schema: text,
    example: 'rule_denied',
  },
  'WWW-Authenticate': {
    description: 'How to prove who calls (RFC 9110, section 11.6.1).',
    schema: text,
    example: 'Bearer realm="intercept"',
  },
  'Retry-After': {
    description: 'Seconds until it is worth trying again.',
    schema: { type: 'integer' },
    example: 2,
  },
  RateLimit: {
    description: 'What is left of the tightest limit, and when more is there.',
    schema: text,
    example: '"key";r=0;t=2',
  },
  'RateLimit-Policy': {
    description: 'The limits that hold.',
    schema: text,
    example: '"key";q=100;w=1',
  },
  ETag: {
    description: 'The version, for If-Match.',
    schema: text,
    example: '"3"',
  },
}

export const requestHeaders: Json = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'For 24 hours, the same key gives the same response: a retry creates nothing twice.',
    schema: { type: 'string', maxLength: 255 },
    example: '3f2a9c7e-deploy-41',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag of what was read: an edit of something else is refused with 412.',
    schema: text,
    example: '"3"',
  },
}
