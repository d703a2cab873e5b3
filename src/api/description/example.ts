interface Schema {
  readonly type?: string
  readonly title?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly minLength?: number
  readonly minItems?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

const ulid = '01kfxq3v5w2m8r4t6y0z9abcde'
const maxDepth = 8

/** Example values for strings and numbers with these names. */
const known: Readonly<Record<string, unknown>> = {
  address: '203.0.113.7',
  agent: 'billing-worker/2.1',
  actor_name: 'Ada Lovelace',
  burst: 20,
  call_records: 'all',
  calls: 100,
  cidrs: '10.0.0.0/8',
  client_id: '0oa1b2c3',
  code: 'rule_denied',
  connection_id: `con_${ulid}`,
  cursor: `key_${ulid}`,
  description: 'Orders',
  detail: 'The first rule that matches refuses this call.',
  email: 'ada@example.com',
  endpoint_id: `ep_${ulid}`,
  event_id: `evt_${ulid}`,
  field: 'name',
  file: 'version: 1\norganization: { slug: acme }\n',
  header: 'Authorization',
  hint: 'svc_live_k3x9Qa2P_…x7Qa',
  issuer: 'https://acme.okta.com',
  key_id: `key_${ulid}`,
  label: 'acme.yaml',
  message: 'is not acceptable',
  method: 'GET',
  name: 'Billing worker',
  next: null,
  nodes: 2,
  path: '/v1/charges',
  per_seconds: 1,
  request_id: `req_${ulid}`,
  rule_id: `rul_${ulid}`,
  search: 'payments',
  secret: 'svc_live_k3x9Qa2P_7Qb0…',
  silent_nodes: 0,
  slug: 'payments',
  status: 200,
  subject: 'target payments',
  subject_id: `tgt_${ulid}`,
  target: 'payments',
  target_id: `tgt_${ulid}`,
  title: 'A rule refuses this call',
  took_ms: 4,
  type: 'api_key.issued',
  types: 'api_key.issued',
  upstream: 'https://payments.internal/',
  url: 'https://example.com/webhooks',
  user_id: `usr_${ulid}`,
  version: 3,
}

/** The prefixes of example ids, by the title of the schema. */
const prefixes: Readonly<Record<string, string>> = {
  AccessToken: 'tok',
  ApiKey: 'key',
  Attempt: 'att',
  Connection: 'con',
  Delivery: 'dlv',
  DeliveryWithAttempts: 'dlv',
  Domain: 'dom',
  Endpoint: 'ep',
  Invitation: 'inv',
  Member: 'mem',
  Operation: 'op',
  Organization: 'org',
  Rule: 'rul',
  Target: 'tgt',
}

/** Generates an example value for a schema; `name` is the property's. */
export function exampleOf(schema: unknown, name = '', depth = 0): unknown {
  const one = schema as Schema
  if (one.const !== undefined) return one.const
  if (one.enum !== undefined) return one.enum[0]
  if (one.allOf !== undefined) {
    return Object.assign({}, ...one.allOf.map((part) => exampleOf(part, name, depth))) as unknown
  }
  if (one.anyOf !== undefined) {
    return name === 'next' ? null : exampleOf(one.anyOf[0], name, depth)
  }
  switch (one.type) {
    case 'object':
      return objectOf(one, depth)
    case 'array':
      return depth > maxDepth ? [] : [exampleOf(one.items ?? {}, name, depth + 1)]
    case 'string':
      return textOf(one, name)
    case 'integer':
    case 'number':
      return numberOf(one, name)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return typeof known[name] === 'string' ? known[name] : 'any'
  }
}

function objectOf({ properties = {}, title }: Schema, depth: number): Record<string, unknown> {
  const prefix = title === undefined ? undefined : prefixes[title]
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      name === 'id' && prefix !== undefined
        ? `${prefix}_${ulid}`
        : exampleOf(schema, name, depth + 1),
    ]),
  )
}

function textOf({ format, minLength = 0 }: Schema, name: string): string {
  if (format === 'date-time') return '2026-11-21T09:30:00.000Z'
  if (format === 'uri') return 'https://intercept.example.com/problems/rule_denied'
  // A `status` that is a string is a filter such as `4xx`, unlike the number in `known`.
  const text = name === 'status' ? '4xx' : known[name]
  if (typeof text === 'string') return text
  if (name === 'id' || name.endsWith('_id')) return `req_${ulid}`
  return (name === '' ? 'text' : name).padEnd(minLength, '0')
}

function numberOf({ minimum = 0 }: Schema, name: string): number {
  const number = known[name]
  return Math.max(minimum, typeof number === 'number' ? number : 12)
}
