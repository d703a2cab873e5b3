import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AccessTokens, permissions, type Permission } from '../../src/access/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { addressOf, readOperations, seedEverything, type Operation } from '../harness/operations.ts'
import { firstOwner, memberOf, withStore, type Reply } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { issuedBy, programWith, type Program } from '../harness/program.ts'

const everyPermission = Object.keys(permissions) as Permission[]
const product = await productForTests()
const owner = await firstOwner(product)
const operations = await readOperations(product.baseUrl)

/**
 * Operations that refuse even a token with the right permission, each with the code of the refusal. Either only people
 * may call them, or the minimal request fails for another reason.
 */
const answeredOtherwise: Readonly<Record<string, string>> = {
  'POST /organizations/:organization/connections/:connection/tests': 'person_required',
  'PUT /organizations/:organization/directory/groups/:group/role': 'not_found',
  'POST /organizations/:organization/directory/groups/:group/role/preview': 'not_found',
  'PUT /organizations/:organization/sso': 'break_glass_missing',
  'POST /organizations/:organization/targets/:target/reach': 'upstream_unreachable',
  'GET /organizations/:organization/calls/:call': 'not_found',
  'GET /organizations/:organization/directory/users/:user': 'not_found',
  'POST /organizations/:organization/webhooks/endpoints/:endpoint/ping': 'conflict',
  'POST /organizations/:organization/webhooks/endpoints/:endpoint/sample': 'conflict',
  'GET /organizations/:organization/webhooks/deliveries/:delivery': 'not_found',
  'POST /organizations/:organization/webhooks/deliveries/:delivery/replay': 'not_found',
  'GET /organizations/:organization/operations/:operation': 'not_found',
  'POST /organizations/:organization/operations/:operation/pause': 'not_found',
  'POST /organizations/:organization/operations/:operation/resume': 'not_found',
  'POST /organizations/:organization/operations/:operation/cancel': 'not_found',
}

describe('every route of the OpenAPI document, for every kind of access token', () => {
  const byPermission = new Map<Permission, Program>()
  const dead = new Map<string, Program>()
  let elsewhere: Program
  let operator: Program
  let idp: HostileIdp
  let ids: Readonly<Record<string, string>>

  before(async () => {
    idp = await hostileIdp({})
    await memberOf(product, 'acme', { email: 'viewer@acme.test', role: 'viewer' })
    const seeded = await seedEverything(product, owner, idp)
    const expiring = await issuedBy(owner, {
      permissions: everyPermission,
      expires_at: new Date(product.clock.now() + 60_000).toISOString(),
    })
    product.clock.forward(120_000)
    const revoked = await issuedBy(owner, { permissions: everyPermission })
    const ended = await owner.call(`POST /organizations/acme/access-tokens/${revoked.id}/revoke`)
    assert.equal(ended.status, 200, ended.text)
    const programOf = (secret: string): Program => programWith(product.baseUrl, secret)
    for (const permission of everyPermission) {
      byPermission.set(
        permission,
        programOf((await issuedBy(owner, { permissions: [permission] })).secret),
      )
    }
    const shown = await issuedBy(owner, { name: 'shown' })
    ids = { ...seeded.ids, access_token: shown.id }
    dead.set('credential_expired', programOf(expiring.secret))
    dead.set('credential_revoked', programOf(revoked.secret))
    dead.set('credential_invalid', programOf(seeded.apiKey))
    const rival = await memberOf(product, 'rival', { email: 'owner@rival.test', role: 'owner' })
    const theirs = await issuedBy(rival, { permissions: everyPermission }, 'rival')
    elsewhere = programOf(theirs.secret)
    operator = programOf(await operatorToken())
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  async function operatorToken(): Promise<string> {
    return await withStore(product, async (store) => {
      const maker = { organization: undefined, actor: { kind: 'operator' as const } }
      const tokens = new AccessTokens({ store, clock: product.clock })
      return (await tokens.issue({ name: 'operator' }, maker)).secret.reveal()
    })
  }

  const wholeExport = 'GET /organizations/:organization/configuration'

  /**
   * Calls an operation. Unless it is a GET, the body isn't declared as JSON. Access is checked first, so only a caller
   * with access gets 415.
   */
  async function knock(program: Program, operation: Operation, at = 'acme'): Promise<Reply> {
    const address = addressOf(operation, at, ids)
    return operation.method === 'GET'
      ? await program.call(address)
      : await program.call(address, operation.body, { 'content-type': 'text/plain' })
  }

  function assertLetIn(reply: Reply, operation: Operation): void {
    if (operation.method === 'GET') {
      assert.ok([200, 400, 404].includes(reply.status), reply.text)
      assert.notEqual(reply.json?.code, 'permission_required')
      return
    }
    assert.equal(reply.status, 415, reply.text)
  }

  for (const operation of operations) {
    const { name, permission } = operation
    if (permission === 'anyone') continue

    test(`${name} refuses a token that is expired or revoked, and an API key in its place`, async () => {
      for (const [code, program] of dead) {
        const reply = await knock(program, operation)
        assert.equal(reply.status, 401, reply.text)
        assert.equal(reply.json.code, code)
        assert.ok(reply.headers.get('www-authenticate'))
      }
    })

    if (permission === 'signed-in') {
      test(`${name} belongs to people: no token reaches it`, async () => {
        for (const program of [...byPermission.values(), elsewhere, operator]) {
          const reply = await knock(program, operation)
          assert.equal(reply.status, 403, reply.text)
          assert.equal(reply.json.code, 'person_required')
        }
      })
      continue
    }

    if (permission === 'operator') {
      test(`${name} takes the operator's token, and neither people nor an organization's tokens`, async () => {
        for (const program of byPermission.values()) {
          const reply = await knock(program, operation)
          assert.equal(reply.json.code, 'permission_required', reply.text)
        }
        const person = await owner.call(addressOf(operation, 'acme', ids), operation.body)
        assert.equal(person.json.code, 'permission_required', person.text)
        assertLetIn(await knock(operator, operation), operation)
      })
      continue
    }

    test(`${name} of another organization is 404 for a token, the operator's too, as one of none`, async () => {
      for (const program of [elsewhere, operator]) {
        const there = await knock(program, operation)
        const nowhere = await knock(program, operation, 'no-such')
        assert.equal(there.status, 404, there.text)
        assert.deepEqual(withoutRequest(there), withoutRequest(nowhere))
      }
    })

    test(`${name} takes a token with ${permission} and refuses one with any other permission`, async () => {
      for (const [has, program] of byPermission) {
        if (has === permission && operation.streams) continue
        const reply = await knock(program, operation)
        if (has === permission && name === wholeExport) {
          // The configuration file shows every section, so no single permission is enough to export it.
          assert.equal(reply.json.permission, 'targets.manage', reply.text)
        } else if (has === permission) assertLetIn(reply, operation)
        else {
          assert.equal(reply.status, 403, `${has}: ${reply.text}`)
          assert.equal(reply.json.code, 'permission_required')
          assert.equal(reply.json.permission, permission)
        }
      }
    })
  }

  test('an access token opens neither the guarded area, nor SCIM, nor a sign-in', async () => {
    const { secret } = await issuedBy(owner, { permissions: everyPermission })
    const { baseUrl } = product
    for (const headers of [
      { authorization: `Bearer ${secret}` },
      { 'x-api-key': secret },
      { cookie: `__Host-session=${secret}` },
    ]) {
      for (const path of [
        '/api/v1/intercept',
        '/api/v1/intercept/echo/x',
        '/api/v1/intercept/-/check',
        '/scim/v2/Users',
        '/scim/v2/Groups',
      ]) {
        const answer = await fetch(baseUrl + path, { headers })
        assert.equal(answer.status, 401, `${path} ${JSON.stringify(headers).slice(0, 20)}`)
      }
    }
    const cookie = await fetch(`${baseUrl}/api/v1/me`, {
      headers: { cookie: `__Host-session=${secret}` },
    })
    assert.equal(cookie.status, 401)
    const linked = await fetch(`${baseUrl}/sign-in-link`, {
      method: 'POST',
      headers: { origin: baseUrl },
      body: new URLSearchParams({ token: secret }),
    })
    assert.equal(linked.headers.getSetCookie().length, 0)
  })

  test('a request with a session and a token, or with two tokens, is ambiguous; another scheme is not ours', async () => {
    const { secret } = await issuedBy(owner, {})
    const authorization = `Bearer ${secret}`
    const both = await owner.call('GET /organizations/acme', undefined, { authorization })
    assert.equal(both.status, 400)
    assert.equal(both.json.code, 'credential_ambiguous')
    const basic = await owner.call('GET /organizations/acme', undefined, {
      authorization: 'Basic cHJveHk6cGFzcw==',
    })
    assert.equal(basic.status, 200, basic.text)
    for (const odd of ['Bearer', 'Bearer  ', `Bearer ${secret}, x`, `Bearer "${secret}"`]) {
      const answer = await fetch(`${product.baseUrl}/api/v1/organizations/acme`, {
        headers: { authorization: odd },
      })
      assert.equal(answer.status, 401, odd)
    }
  })

  test('what is not reserved to people is done by a token, route by route', async () => {
    const all = await issuedBy(owner, { permissions: everyPermission })
    const program = programWith(product.baseUrl, all.secret)
    const mine = operations.filter(
      ({ permission, streams }) => permission in permissions && !streams,
    )
    const wrong: string[] = []
    // DELETE operations come last, and the one that deletes the organization at the very end.
    const gravity = ({ method, path }: Operation): number =>
      method === 'DELETE' ? 100 - path.split('/').length : 0
    for (const operation of mine.toSorted((a, b) => gravity(a) - gravity(b))) {
      const { name } = operation
      const reply = await program.call(
        addressOf(operation, 'acme', ids),
        bodyOf(operation, idp.issuerOf('honest')),
      )
      const expected = answeredOtherwise[name]
      const got = reply.status < 300 ? undefined : reply.json.code
      if (got !== expected) wrong.push(`${name}: ${reply.text}`)
    }
    assert.deepEqual(wrong, [])
  })
})

const aFile = `version: 1
organization:
  slug: acme
targets:
  from-file:
    upstream: http://127.0.0.1:8099
`

/** Returns the body for an operation: the minimal one, or another one where the minimal one would be refused. */
function bodyOf(operation: Operation, issuer: string): unknown {
  const at = '/organizations/:organization'
  const bodies: Readonly<Record<string, unknown>> = {
    [`POST ${at}/invitations`]: { email: 'invited@acme.test', role: 'viewer' },
    [`POST ${at}/connections`]: { issuer, client_id: 'by token', client_secret: 's' },
    [`POST ${at}/connections/discover`]: { issuer },
    [`POST ${at}/domains`]: { name: 'token.test' },
    [`PATCH ${at}/domains/:domain`]: { connection_id: null },
    [`POST ${at}/targets`]: { slug: 'by-token', upstream: 'http://127.0.0.1:8099' },
    [`POST ${at}/webhooks/endpoints`]: { url: 'http://127.0.0.1:8098/other' },
    [`POST ${at}/webhooks/endpoints/:endpoint/sample`]: { type: 'api_key.issued' },
    [`DELETE ${at}`]: { slug: 'acme' },
    [`POST ${at}/configuration/plan`]: { file: aFile, label: 'acme.yaml' },
    [`POST ${at}/configuration/apply`]: { file: aFile, label: 'acme.yaml' },
    [`POST ${at}/configuration/take-over`]: { section: 'targets', id: 'from-file' },
    [`POST ${at}/access-tokens`]: { name: 'child', permissions: ['traffic.see'] },
  }
  return bodies[operation.name] ?? operation.body
}

function withoutRequest(reply: Reply): unknown {
  const { request_id: _, ...rest } = reply.json
  return rest
}
