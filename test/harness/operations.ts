import assert from 'node:assert/strict'
import { organizations } from '../../src/store/index.ts'
import type { HostileIdp } from './hostile-idp.ts'
import { withStore, type Person } from './person.ts'
import type { TestProduct } from './product.ts'

export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly permission: string
  readonly body: unknown
  readonly query: string
  /** Whether its response never ends by itself. */
  readonly streams: boolean
}

export interface Seeded {
  /** Values for path parameters, by the parameter's name. */
  readonly ids: Readonly<Record<string, string>>
  readonly apiKey: string
  readonly scimToken: string
}

/** Returns the method and path of an operation, with ids in place of its parameters and with its query. */
export function addressOf(
  operation: Operation,
  organization: string,
  ids: Readonly<Record<string, string>>,
): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'organization' ? organization : (ids[name] ?? 'req_00000000000000000000000000'),
  )
  return `${operation.method} ${path}${operation.query}`
}

/** Creates things in acme, to obtain their ids. acme must have a viewer who is signed in. */
export async function seedEverything(
  product: TestProduct,
  owner: Person,
  idp: HostileIdp,
): Promise<Seeded> {
  const at = '/organizations/acme'
  const issued = await owner.call(`POST ${at}/keys`, { name: 'a' })
  const target = await owner.call(`POST ${at}/targets`, {
    slug: 'echo',
    upstream: 'http://127.0.0.1:8099',
  })
  assert.equal(target.status, 201, target.text)
  const invited = await owner.call(`POST ${at}/invitations`, {
    email: 'new@x.test',
    role: 'viewer',
  })
  const endpoint = await owner.call(`POST ${at}/webhooks/endpoints`, {
    url: 'http://127.0.0.1:8098/hook',
  })
  assert.equal(endpoint.status, 201, endpoint.text)
  const company = await seedCompany(product, owner, idp)
  const members = await owner.call(`GET ${at}/members`)
  const viewer = members.json.items.find((one: { role: string }) => one.role === 'viewer')
  const sessions = await owner.call(`GET ${at}/members/${viewer.id}/sessions`)
  const ids = {
    key: issued.json.key.id,
    target: 'echo',
    invitation: invited.json.invitation.id,
    endpoint: endpoint.json.id,
    member: viewer.id,
    session: sessions.json.items[0].id,
    ...company.ids,
  }
  return { ids, apiKey: issued.json.secret, scimToken: company.scimToken }
}

/** Adds what requires the enterprise plan: a connection with a test, a domain, a SCIM token. */
async function seedCompany(product: TestProduct, owner: Person, idp: HostileIdp) {
  const at = '/organizations/acme'
  await withStore(product, async (store) => {
    const found = await organizations.findBySlug(store, 'acme')
    await store.transaction(
      async (tx) => await organizations.update(tx, found!.id, { plan: 'enterprise' }),
    )
  })
  const connection = await owner.call(`POST ${at}/connections`, {
    issuer: idp.issuerOf('honest'),
    client_id: 'intercept',
    client_secret: 's',
  })
  assert.equal(connection.status, 201, connection.text)
  const tested = await owner.call(`POST ${at}/connections/${connection.json.id}/tests`)
  const domain = await owner.call(`POST ${at}/domains`, { name: 'acme.test' })
  assert.equal(domain.status, 201, domain.text)
  const token = await owner.call(`POST ${at}/directory/tokens`, { name: 'a' })
  assert.equal(token.status, 201, token.text)
  const ids = {
    connection: connection.json.id,
    test: tested.json.id,
    domain: domain.json.name,
    token: token.json.token.id,
  }
  return { ids, scimToken: token.json.secret }
}

/** Reads the operations of the JSON API from the OpenAPI document, each with a minimal input. */
export async function readOperations(baseUrl: string): Promise<Operation[]> {
  const answer = await fetch(`${baseUrl}/api/v1/openapi.json`)
  const document = (await answer.json()) as {
    paths: Record<string, Record<string, Described>>
    components: { schemas: Record<string, Schema> }
  }
  const schemas = document.components.schemas
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      method: method.toUpperCase(),
      path,
      permission: described['x-permission'],
      body: sample(described.requestBody?.content['application/json'].schema, schemas),
      query: queryOf(described),
      streams: JSON.stringify(described.responses).includes('text/event-stream'),
    })),
  )
  // Operations that take an API key belong to the gateway, not to the JSON API.
  return all.filter(({ permission }) => permission !== 'key')
}

interface Described {
  readonly 'x-permission': string
  readonly responses: object
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { schema: Schema } } }
}

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly format?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly minItems?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Builds an operation's query: a time range and a step if it takes `step_ms`, as charts do; otherwise it is empty. */
function queryOf(described: Described): string {
  const names = (described.parameters ?? [])
    .filter((one) => one.in === 'query')
    .map(({ name }) => name)
  if (!names.includes('step_ms')) return ''
  return '?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&step_ms=60000'
}

/** Makes a small value of the type and length that a schema asks for; ignores its patterns. */
function sample(schema: Schema | undefined, schemas: Record<string, Schema>): unknown {
  if (!schema) return undefined
  if (schema.$ref) return sample(schemas[schema.$ref.split('/').at(-1)!], schemas)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sample(schema.anyOf[0], schemas)
  if (schema.allOf) {
    return Object.assign({}, ...schema.allOf.map((part) => sample(part, schemas) as object))
  }
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name], schemas)]),
      )
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items, schemas))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      if (schema.format === 'date-time') return '2030-01-01T00:00:00Z'
      return 'x'.repeat(Math.max(3, schema.minLength ?? 0))
    default:
      return {}
  }
}
