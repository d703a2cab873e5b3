import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { validate } from './openapi-validator.ts'
import { may, permissionsOf, roles, type Permission, type Role } from '../../src/access/index.ts'
import { firstOwner, memberOf, personWith, type Person, type Reply } from '../harness/person.ts'
import { addressOf, readOperations, seedEverything, type Operation } from '../harness/operations.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

/** Routes that are open to everybody; a new one has to be listed here with its reason. */
const open: Readonly<Record<string, string>> = {
  'GET /sign-in-options': 'the sign-in page needs it',
  'POST /setup/look': 'guarded by the setup token',
  'POST /setup': 'guarded by the setup token',
  'POST /invitations/look': 'guarded by the invitation token',
  'POST /credentials/revoke': 'guarded by the secret itself',
}

const product: TestProduct = await productForTests()
const owner = await firstOwner(product)
const operations = await readOperations(product.baseUrl)

describe('every route of the OpenAPI document, for every principal', () => {
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
    const seeded = await seedEverything(product, owner, idp)
    ids = seeded.ids
    apiKey = seeded.apiKey
    scimToken = seeded.scimToken
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  const urlOf = (operation: Operation, organization: string): string =>
    addressOf(operation, organization, ids)

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

    test(`${name} is 401 for anonymous, for an API key in either header, for a SCIM token, for odd cookies`, async () => {
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
    if (permission === 'operator') {
      test(`${name} is refused to everybody but the operator's token`, async () => {
        for (const person of people.values()) {
          const answer = await person.call(urlOf(operation, 'acme'), operation.body)
          assert.equal(answer.status, 403, answer.text)
          assert.equal(answer.json.code, 'permission_required')
        }
      })
      continue
    }

    test(`${name} of another organization is 404, the same as of none`, async () => {
      const there = await outsider.call(urlOf(operation, 'acme'), operation.body)
      const nowhere = await outsider.call(urlOf(operation, 'no-such'), operation.body)
      assert.equal(there.status, 404, there.text)
      assert.deepEqual(withoutRequest(there), withoutRequest(nowhere))
    })

    if ((operation.path.match(/\{/g) ?? []).length > 1) {
      test(`${name} with an id of another organization changes and shows nothing`, async () => {
        const answer = await outsider.call(urlOf(operation, 'rival'), operation.body)
        assert.equal(answer.status, 404, answer.text)
      })
    }

    for (const role of roles) {
      if (may(role, permission as Permission)) continue
      test(`${name} is refused to a ${role}, who lacks ${permission}`, async () => {
        const answer = await people.get(role)!.call(urlOf(operation, 'acme'), operation.body)
        assert.equal(answer.status, 403, answer.text)
        assert.equal(answer.json.code, 'permission_required')
      })
    }

    if (operation.method === 'GET') {
      for (const role of roles.filter((one) => may(one, permission as Permission))) {
        test(`${name} is answered to a ${role}, who has ${permission}`, async () => {
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
      test(`${name} is refused from another origin, and with a body that is not JSON`, async () => {
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

/** Reads the head of an endless response, and disconnects. */
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
