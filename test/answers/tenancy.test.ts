import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { validate } from './openapi-validator.ts'
import { may, permissionsOf, roles, type Permission, type Role } from '../../src/access/index.ts'
import { organizations } from '../../src/store/index.ts'
import {
  firstOwner,
  memberOf,
  personWith,
  withStore,
  type Person,
  type Reply,
} from '../harness/person.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly permission: string
  readonly body: unknown
  readonly query: string
  /** Its answer has no end of its own. */
  readonly streams: boolean
}

/** Routes that are open to anybody: a new one has to be named here, with its reason. */
const open: Readonly<Record<string, string>> = {
  'GET /sign-in-options': 'the sign-in page needs it',
  'POST /setup/look': 'guarded by the setup token',
  'POST /setup': 'guarded by the setup token',
  'POST /invitations/look': 'guarded by the invitation token',
  'POST /credentials/revoke': 'guarded by the secret itself',
}

const product: TestProduct = await productForTests()
const owner = await firstOwner(product)
const operations = await readOperations()

describe('T1: every route of the OpenAPI document, for every principal', () => {
  const people = new Map<Role, Person>()
  let outsider: Person
  let apiKey: string
  let scimToken: string
  let idp: HostileIdp
  let ids: Readonly<Record<string, string>>

  before(async () => {
    people.set('owner', owner)
    for (const role of roles) {
      if (role !== 'owner') {
        people.set(role, await memberOf(product, 'acme', { email: `${role}@acme.test`, role }))
      }
    }
    outsider = await memberOf(product, 'rival', { email: 'owner@rival.test', role: 'owner' })
    idp = await hostileIdp({})
    ids = await seed()
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  /** One of everything in acme, for the ids. */
  async function seed(): Promise<Record<string, string>> {
    const at = '/organizations/acme'
    const issued = await owner.call(`POST ${at}/keys`, { name: 'a' })
    apiKey = issued.json.secret
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
    const company = await seedCompany(at)
    const members = await owner.call(`GET ${at}/members`)
    const viewer = members.json.items.find((one: { role: string }) => one.role === 'viewer')
    const sessions = await owner.call(`GET ${at}/members/${viewer.id}/sessions`)
    return {
      key: issued.json.key.id,
      target: 'echo',
      invitation: invited.json.invitation.id,
      endpoint: endpoint.json.id,
      member: viewer.id,
      session: sessions.json.items[0].id,
      ...company,
    }
  }

  /** What the plan enterprise adds: a connection with a test, a domain, a SCIM token. */
  async function seedCompany(at: string): Promise<Record<string, string>> {
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
    scimToken = token.json.secret
    return {
      connection: connection.json.id,
      test: tested.json.id,
      domain: domain.json.name,
      token: token.json.token.id,
    }
  }

  function urlOf(operation: Operation, organization: string): string {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === 'organization' ? organization : (ids[name] ?? 'req_00000000000000000000000000'),
    )
    return `${operation.method} ${path}${operation.query}`
  }

  test('the document is valid OpenAPI 3.1', async () => {
    const answer = await fetch(`${product.baseUrl}/api/v1/openapi.json`)
    const result = await validate(await answer.json())
    assert.deepEqual(result.errors, [])
    assert.equal(result.version, '3.1')
  })

  for (const operation of operations) {
    const { name, permission } = operation
    if (permission === 'anyone') {
      test(`${name} is open, and said to be`, () => assert.ok(open[name], 'name it in the list'))
      continue
    }

    test(`C9, K2: ${name} is 401 for anonymous, for an API key in either header, for a SCIM token, for odd cookies`, async () => {
      const anonymous = personWith(product.baseUrl)
      const url = urlOf(operation, 'acme')
      const attempts = [
        await anonymous.call(url, operation.body),
        await anonymous.call(url, operation.body, { 'x-api-key': apiKey }),
        await anonymous.call(url, operation.body, { authorization: `Bearer ${apiKey}` }),
        await anonymous.call(url, operation.body, { authorization: `Bearer ${scimToken}` }),
        await anonymous.call(url, operation.body, { 'x-api-key': scimToken }),
        await anonymous.call(url, operation.body, { cookie: `__Host-session=${apiKey}` }),
        await anonymous.call(url, operation.body, { cookie: `__Host-session=${scimToken}` }),
        await anonymous.call(url, operation.body, {
          cookie: `__Host-session=${owner.cookie}; __Host-session=${owner.cookie}`,
        }),
      ]
      for (const attempt of attempts) {
        assert.equal(attempt.status, 401, attempt.text)
        assert.ok(attempt.headers.get('www-authenticate'))
      }
    })

    if (permission === 'signed-in') continue

    test(`T2: ${name} of another organization is 404, the same as of none`, async () => {
      const there = await outsider.call(urlOf(operation, 'acme'), operation.body)
      const nowhere = await outsider.call(urlOf(operation, 'no-such'), operation.body)
      assert.equal(there.status, 404, there.text)
      assert.deepEqual(withoutRequest(there), withoutRequest(nowhere))
    })

    if ((operation.path.match(/\{/g) ?? []).length > 1) {
      test(`T2: ${name} with an id of another organization changes and shows nothing`, async () => {
        const answer = await outsider.call(urlOf(operation, 'rival'), operation.body)
        assert.equal(answer.status, 404, answer.text)
      })
    }

    for (const role of roles) {
      // The last one would end what the others need.
      if (may(role, permission as Permission)) continue
      test(`T6: ${name} is refused to a ${role}, who lacks ${permission}`, async () => {
        const answer = await people.get(role)!.call(urlOf(operation, 'acme'), operation.body)
        assert.equal(answer.status, 403, answer.text)
        assert.equal(answer.json.code, 'permission_required')
      })
    }

    if (operation.method === 'GET') {
      for (const role of roles.filter((one) => may(one, permission as Permission))) {
        test(`T6: ${name} is answered to a ${role}, who has ${permission}`, async () => {
          const person = people.get(role)!
          if (operation.streams) {
            await checkStream(person, urlOf(operation, 'acme'))
            return
          }
          const answer = await person.call(urlOf(operation, 'acme'))
          assert.ok([200, 400, 404].includes(answer.status), answer.text)
          assert.notEqual(answer.json?.code, 'permission_required')
        })
      }
    } else {
      test(`H2: ${name} is refused from another origin, and with a body that is not JSON`, async () => {
        const url = urlOf(operation, 'acme')
        const foreign = [
          { origin: 'http://evil.test' },
          { origin: 'null' },
          { origin: product.baseUrl, 'sec-fetch-site': 'cross-site' },
          { origin: product.baseUrl, 'sec-fetch-site': 'same-site' },
        ]
        for (const headers of foreign) {
          const answer = await owner.call(url, operation.body, headers)
          assert.equal(answer.json.code, 'cross_origin_refused', JSON.stringify(headers))
        }
        for (const type of [
          'text/plain',
          'application/x-www-form-urlencoded',
          'application/jsonx',
          '',
        ]) {
          const answer = await owner.call(url, operation.body, { 'content-type': type })
          assert.equal(answer.status, 415, `${type}: ${answer.text}`)
        }
      })
    }
  }

  test('every role’s permissions are what the table of roles says, seen from outside', async () => {
    for (const role of roles) {
      const me = await people.get(role)!.call('GET /me')
      const place = me.json.organizations.find((one: { slug: string }) => one.slug === 'acme')
      assert.deepEqual(place.permissions, permissionsOf(role))
    }
  })

  test('a session opens nothing inside the guarded area', async () => {
    const answer = await fetch(`${product.baseUrl}/api/v1/intercept/echo/x`, {
      headers: { cookie: `__Host-session=${owner.cookie}` },
    })
    assert.equal(answer.status, 401)
    const bearer = await fetch(`${product.baseUrl}/api/v1/intercept/echo/x`, {
      headers: { authorization: `Bearer ${owner.cookie}` },
    })
    assert.equal(bearer.status, 401)
  })

  test('an address below /api that is not in the table is 404 with a problem, never a page', async () => {
    for (const path of ['/api/v1/nothing', '/api/v1/organizations/acme/nothing', '/api/v2/me']) {
      const answer = await fetch(product.baseUrl + path)
      assert.equal(answer.status, 404)
      assert.match(answer.headers.get('content-type') ?? '', /problem\+json/)
    }
  })
})

/** Looks at the head of an endless answer, and leaves. */
async function checkStream(person: Person, route: string): Promise<void> {
  const leave = new AbortController()
  const answer = await fetch(`${product.baseUrl}/api/v1${route.split(' ')[1]}`, {
    headers: { cookie: `__Host-session=${person.cookie}` },
    signal: leave.signal,
  })
  assert.equal(answer.status, 200)
  leave.abort()
}

function withoutRequest(reply: Reply): unknown {
  const { request_id: _, ...rest } = reply.json
  return rest
}

async function readOperations(): Promise<Operation[]> {
  const answer = await fetch(`${product.baseUrl}/api/v1/openapi.json`)
  const document = (await answer.json()) as {
    paths: Record<string, Record<string, Described>>
    components: { schemas: Record<string, Schema> }
  }
  const schemas = document.components.schemas
  return Object.entries(document.paths).flatMap(([path, methods]) =>
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
}

interface Described {
  readonly 'x-permission': string
  readonly responses: object
  readonly parameters: readonly { name: string; in: string; schema: Schema }[]
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

/** Rollups need a span; every other query is optional. */
function queryOf(described: Described): string {
  const names = described.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  if (!names.includes('stepMs')) return ''
  return '?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&step_ms=60000'
}

/** The least that a schema takes. */
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
