import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gatewayForTests, prefix } from '../harness/gateway.ts'
import type { TestGateway } from '../harness/gateway.ts'

describe('credentials of the guarded area', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await gatewayForTests()
    const { run, upstream } = gateway
    await run('target', 'set', 'acme', 'off', '--upstream', upstream.url, '--disabled')
  })
  after(async () => gateway[Symbol.asyncDispose]())

  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    test(`${method} without a credential is 401 on every path, and the upstream sees nothing`, async () => {
      const before = gateway.upstream.seen.length
      const bodies = new Set<string>()
      for (const path of [
        '',
        '/',
        '/echo',
        '/echo/x',
        '/missing/x',
        '/-/check',
        '/off/x',
        '/echo/../x',
        '/echo//',
      ]) {
        const response = await fetch(`${gateway.product.baseUrl}${prefix}${path}`, { method })
        assert.equal(response.status, 401, path)
        assert.equal(response.headers.get('intercept-refused'), 'credential_missing')
        assert.notEqual(response.headers.get('www-authenticate'), null)
        bodies.add((await response.text()).replace(/req_\w+/, ''))
      }
      assert.equal(bodies.size, 1)
      assert.equal(gateway.upstream.seen.length, before)
    })
  }

  test('the scheme is case-insensitive, blanks around the key are trimmed, other letters are not', async () => {
    const ask = async (line: string) =>
      gateway.raw(
        `GET ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${line}\r\n\r\n`,
      )
    const { bearer, xApiKey } = gateway
    for (const line of [
      `Authorization: bearer ${bearer.secret}`,
      `AUTHORIZATION: BEARER  ${bearer.secret} `,
      `x-api-key:   ${xApiKey.secret}  `,
    ]) {
      assert.match(await ask(line), /^HTTP\/1\.1 200 /, line)
    }
    for (const line of [
      `Authorization: Bearer\t${bearer.secret}`,
      `Authorization: Bearer ${bearer.secret},`,
      `Authorization: Bearer "${bearer.secret}"`,
      `Authorization: Bearer \xa0${bearer.secret}`,
      `Authorization: ${bearer.secret}`,
      `X-API-Key: ${xApiKey.secret}, ${xApiKey.secret}`,
    ]) {
      assert.match(await ask(line), /^HTTP\/1\.1 401 /, line)
    }
  })

  test('malformed and unknown keys get the same answer', async () => {
    const other = await gatewayForTests()
    const foreign = other.xApiKey
    await other[Symbol.asyncDispose]()
    const bodies = new Set<string>()
    for (const secret of [
      foreign.secret,
      'svc_live_',
      'svc_live_x',
      `${foreign.secret}x`,
      'nonsense',
    ]) {
      const headers = { 'X-API-Key': secret }
      const response = await fetch(`${gateway.product.baseUrl}${prefix}/echo/x`, { headers })
      const names = [...response.headers.keys()].sort().join()
      bodies.add(`${response.status} ${names} ${(await response.text()).replace(/req_\w+/, '')}`)
    }
    assert.equal(bodies.size, 1)
  })
})
