import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  errorUrn,
  directoryForTests,
  scimCall,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

function assertScimError(reply: ScimReply, status: number, what: string): void {
  assert.equal(reply.status, status, `${what}: ${JSON.stringify(reply.body)}`)
  assert.deepEqual([reply.body.schemas, reply.body.status], [[errorUrn], String(status)], what)
}

describe('SCIM before the body', () => {
  let directory: TestDirectory
  before(async () => {
    directory = await directoryForTests('sqlite')
  })
  after(async () => await directory[Symbol.asyncDispose]())

  test('RFC 7643 5: discovery is read without a token; with a wrong one it is 401', async () => {
    const read = async (path: string, token?: string): Promise<ScimReply> =>
      await scimCall(`${directory.base}${path}`, 'GET', token === undefined ? {} : { token })
    for (const path of [
      '/ServiceProviderConfig',
      '/ServiceProviderConfig/',
      '/serviceproviderconfig?attributes=pagination',
      '/ResourceTypes',
      '/ResourceTypes/User',
      '/Schemas',
      `/Schemas/${userUrn}`,
    ]) {
      const reply = await read(path)
      assert.equal(reply.status, 200, path)
      assert.deepEqual(reply.body, (await directory.call('GET', path)).body, path)
      assertScimError(await read(path, 'svc_scim_wrong'), 401, path)
    }
    assertScimError(await read('/Schemas/urn:nothing'), 404, 'unknown schema')
    assertScimError(await read('/Schemas/a/b'), 401, 'no discovery document')
    for (const path of ['', '/Users', '/Groups', '/Me', '/Bulk', '/Nothing', '/%00']) {
      assertScimError(await read(path), 401, path)
    }
    const posted = await scimCall(`${directory.base}/Schemas`, 'POST', { body: {} })
    assertScimError(posted, 405, 'POST without a token')
  })

  test('RFC 9110 15.5.6: a method that an address does not have is told before any body is looked at', async () => {
    for (const [method, path] of [
      ['POST', '/Schemas'],
      ['PUT', '/Users'],
      ['PATCH', '/Bulk'],
      ['POST', '/Users/x'],
    ] as const) {
      for (const [body, type] of [
        ['{"cut', 'application/scim+json'],
        ['{}', 'application/scim+json'],
        ['x=1', 'application/x-www-form-urlencoded'],
        [`"${'x'.repeat(2_000_000)}"`, 'application/json'],
      ] as const) {
        const refused = await directory.call(method, path, body, { 'content-type': type })
        assertScimError(refused, 405, `${method} ${path} ${type}`)
      }
    }
    assertScimError(await directory.call('POST', '/Nothing', '{"cut'), 404, 'an unknown address')
  })

  test('RFC 9110 9.3.2: HEAD is answered as GET would be, without the body', async () => {
    const { id } = (
      await directory.call('POST', '/Users', { schemas: [userUrn], userName: 'headed' })
    ).body
    for (const path of [
      `/Users/${id}`,
      '/Users?count=1',
      '/Schemas',
      '/Users/nobody',
      '/Nothing',
    ]) {
      const [head, get] = [await directory.call('HEAD', path), await directory.call('GET', path)]
      assert.equal(head.status, get.status, path)
      assert.equal(head.body, undefined)
      for (const name of ['content-type', 'content-length', 'etag', 'location']) {
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
      }
    }
    const stranger = await scimCall(`${directory.base}/Users`, 'HEAD', {})
    assert.deepEqual([stranger.status, stranger.body], [401, undefined])
  })
})
