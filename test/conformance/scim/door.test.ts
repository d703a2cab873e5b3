import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { problems } from '../../../src/errors.ts'
import { exchangeRaw } from '../../harness/raw.ts'
import { engines } from '../../harness/store.ts'
import {
  commandLine,
  directoryForTests,
  errorUrn,
  scimCall,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

/** Checks the status, the headers and the members of a SCIM error (RFC 7644 section 3.12). */
function assertScimError(reply: ScimReply, status: number, what: string): void {
  assert.equal(reply.status, status, `${what}: ${JSON.stringify(reply.body)}`)
  assert.equal(reply.headers.get('content-type'), 'application/scim+json', what)
  assert.deepEqual(reply.body.schemas, [errorUrn], what)
  assert.equal(reply.body.status, String(status), what)
  assert.equal(typeof reply.body.detail, 'string', what)
  // Intercept's own code is in a header, because RFC 7644 leaves no place for it in the body.
  const code = reply.headers.get('intercept-refused') ?? ''
  assert.ok(code in problems, `${what}: Intercept-Refused: ${code}`)
  for (const name of Object.keys(reply.body)) {
    assert.ok(['schemas', 'status', 'scimType', 'detail'].includes(name), `${what}: ${name}`)
  }
}

for (const engine of engines) {
  describe(`tokens at the SCIM door on ${engine}`, () => {
    let directory: TestDirectory
    let other: { readonly port: number; readonly stop: () => Promise<void> }
    before(async () => {
      directory = await directoryForTests(engine)
      other = await directory.product.anotherNode()
    })
    after(async () => {
      await other.stop()
      await directory[Symbol.asyncDispose]()
    })

    const issue = async (slug: string): Promise<{ id: string; secret: string }> => {
      const words = ['scim', 'token', 'issue', slug, '--name', 'another']
      const { id, secret } = await commandLine(words, directory.product)
      return { id: String(id), secret: String(secret) }
    }
    const elsewhere = async (token: string): Promise<ScimReply> =>
      await scimCall(`http://127.0.0.1:${other.port}/scim/v2/Users`, 'GET', { token })

    test('a revoked token is refused at once, on this node and on another', async () => {
      const { id, secret } = await issue('acme')
      assert.equal((await elsewhere(secret)).status, 200)
      await commandLine(['scim', 'token', 'revoke', 'acme', id], directory.product)
      assertScimError(await elsewhere(secret), 401, 'another node')
      const here = await scimCall(`${directory.base}/Users`, 'GET', { token: secret })
      assertScimError(here, 401, 'this node')
      assert.match(here.headers.get('www-authenticate') ?? '', /^Bearer .*error="invalid_token"/)
      assert.equal((await directory.call('GET', '/Users')).status, 200)
    })

    test('five tokens may be active, a sixth only when one is revoked', async () => {
      const tokens = []
      for (let at = 1; at < 5; at++) tokens.push(await issue('acme'))
      await assert.rejects(async () => await issue('acme'), /5 SCIM tokens are active/)
      for (const { secret } of tokens) assert.equal((await elsewhere(secret)).status, 200)
      await commandLine(['scim', 'token', 'revoke', 'acme', tokens[0]!.id], directory.product)
      assert.equal((await elsewhere((await issue('acme')).secret)).status, 200)
    })

    test('an organization that falls back to standard is told 403, and its users stay', async () => {
      const token = directory.otherToken
      await commandLine(['org', 'set-plan', 'other', 'standard'], directory.product)
      const refused = await scimCall(`${directory.base}/Users`, 'GET', { token })
      assertScimError(refused, 403, 'standard')
      await assert.rejects(async () => await issue('other'), /enterprise/)
      await commandLine(['org', 'set-plan', 'other', 'enterprise'], directory.product)
      assert.equal((await scimCall(`${directory.base}/Users`, 'GET', { token })).status, 200)
    })
  })
}

describe('what the SCIM door answers before and beside its resources', () => {
  let directory: TestDirectory
  before(async () => {
    directory = await directoryForTests('sqlite', {
      LIMIT_SCIM: '20/s',
      LIMIT_FAILED_CREDENTIALS: '10/s',
    })
  })
  after(async () => await directory[Symbol.asyncDispose]())

  // Each test gets a token of its own, because the rate of requests is limited per token.
  const fresh = async (): Promise<TestDirectory['call']> => {
    const words = ['scim', 'token', 'issue', 'acme', '--name', 'fresh']
    const { secret } = await commandLine(words, directory.product)
    return async (method, path, body, headers) =>
      await scimCall(`${directory.base}${path}`, method, {
        token: String(secret),
        body,
        headers,
      })
  }

  test('RFC 7644 3.12: unknown addresses, wrong methods and URLs that cannot be read are SCIM errors', async () => {
    const call = await fresh()
    assertScimError(await call('GET', '/Nothing'), 404, 'unknown')
    assertScimError(await call('GET', '/Users/a/b'), 404, 'too deep')
    assertScimError(await call('GET', '/ResourceTypes/Nothing'), 404, 'resource type')
    assertScimError(await call('GET', '/Schemas/urn:nothing'), 404, 'schema')
    assertScimError(await call('GET', '/Users/%E0%A4%A'), 400, 'cut escape')
    assertScimError(await call('GET', '/%ZZ'), 400, 'wrong escape')
    const options = await call('OPTIONS', '/Users')
    assertScimError(options, 405, 'OPTIONS')
    assert.equal(options.headers.get('allow'), 'GET, HEAD, POST, PUT, PATCH, DELETE')
    assertScimError(await call('GET', '/Me'), 501, 'me')
    for (const [method, path, allowed] of [
      ['PUT', '/Users', 'GET, HEAD, POST'],
      ['POST', '/Users/x', 'GET, HEAD, PUT, PATCH, DELETE'],
      ['GET', '/Bulk', 'POST'],
      ['GET', '/Users/.search', 'POST'],
      ['POST', '/Schemas', 'GET, HEAD'],
      ['DELETE', '/ServiceProviderConfig', 'GET, HEAD'],
    ] as const) {
      const refused = await call(method, path)
      assertScimError(refused, 405, `${method} ${path}`)
      assert.equal(refused.headers.get('allow'), allowed)
    }
  })

  test('RFC 7644 3.12: what the parser of HTTP refuses at these addresses is a SCIM error too', async () => {
    const { port } = directory.product
    for (const [status, code, head] of [
      [431, 'head_too_large', `GET /scim/v2/Users HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(17_000)}`],
      [414, 'uri_too_long', `GET /scim/v2/Users?filter=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a`],
      [400, 'bad_request', 'GET /scim/v2 HTTP/1.1\r\nHost : a'],
      [505, 'version_not_supported', 'GET /scim/v2/Users HTTP/3.7\r\nHost: a'],
    ] as const) {
      const answer = await exchangeRaw(port, `${head}\r\n\r\n`)
      const [lines = '', body = ''] = answer.split('\r\n\r\n')
      const headers = new Headers(
        lines
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ', 2) as [string, string]),
      )
      assert.match(lines, new RegExp(`^HTTP/1\\.1 ${status} `))
      assertScimError({ status, headers, body: JSON.parse(body) }, status, code)
      assert.equal(headers.get('intercept-refused'), code)
    }
    // Outside /scim/v2 the same refusal is a problem document.
    const other = await exchangeRaw(
      port,
      `GET /scim/v20 HTTP/1.1\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`,
    )
    assert.match(other, /^HTTP\/1\.1 431 [^]*application\/problem\+json/)
  })

  test('a content type without a body is answered, not waited for', async () => {
    const { port } = directory.product
    const call = await fresh()
    const { id } = (await call('POST', '/Users', { schemas: [userUrn], userName: 'empty' })).body
    for (const [line, status] of [
      ['DELETE /scim/v2/Users/nobody', 404],
      ['POST /scim/v2/Users', 400],
      [`PUT /scim/v2/Users/${id}`, 400],
      [`PATCH /scim/v2/Users/${id}`, 400],
      [`DELETE /scim/v2/Users/${id}`, 204],
      ['POST /api/v1/credentials/revoke', 400],
    ] as const) {
      const answer = await exchangeRaw(
        port,
        `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
          `Authorization: Bearer ${directory.token}\r\nConnection: close\r\n\r\n`,
      )
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), line)
    }
  })

  test('beyond its rate a token is told 429 and when to come back; another token is not', async () => {
    const call = await fresh()
    const replies = await Promise.all(
      Array.from({ length: 300 }, async () => await call('GET', '/ServiceProviderConfig')),
    )
    const limited = replies.filter(({ status }) => status === 429)
    assert.ok(limited.length > 0)
    assert.ok(replies.some(({ status }) => status === 200))
    for (const reply of limited) {
      assertScimError(reply, 429, 'limited')
      assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/)
    }
    const another = await fresh()
    assert.equal((await another('GET', '/ServiceProviderConfig')).status, 200)
  })

  test('wrong tokens are limited per source, and a right one gets in all the same', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const reply = await scimCall(`${directory.base}/Users`, 'GET', { token: 'svc_scim_wrong' })
        assertScimError(reply, reply.status === 429 ? 429 : 401, 'guess')
        return reply.status
      }),
    )
    assert.ok(statuses.includes(401) && statuses.includes(429))
    const right = await scimCall(`${directory.base}/ServiceProviderConfig`, 'GET', {
      token: directory.otherToken,
    })
    assert.equal(right.status, 200)
  })
})
