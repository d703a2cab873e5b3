import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gatewayForTests, prefix } from '../harness/gateway.ts'
import type { IssuedKey, TestGateway } from '../harness/gateway.ts'

describe('the decision alone', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await gatewayForTests({
      target: ['--rule', 'deny DELETE /admin/*', '--rule', 'allow * /*'],
    })
  })
  after(async () => gateway[Symbol.asyncDispose]())

  async function ask(
    rest: string,
    headers: Record<string, string>,
    key: IssuedKey | undefined = gateway.xApiKey,
    method = 'GET',
  ): Promise<{ status: number; code: string | null; headers: Headers }> {
    const response = await gateway.call(`/-/check${rest}`, key, { headers, method })
    await response.arrayBuffer()
    return {
      status: response.status,
      code: response.headers.get('intercept-refused'),
      headers: response.headers,
    }
  }

  test('nginx: the original URI and method decide, and the upstream never hears of it', async () => {
    const yes = await ask('?target=echo', {
      'X-Original-URI': '/items?a=b',
      'X-Original-Method': 'GET',
    })
    assert.equal(yes.status, 200)
    assert.equal(yes.headers.get('intercept-key-id'), gateway.xApiKey.id)
    assert.equal(yes.headers.get('intercept-organization'), 'acme')
    assert.equal(yes.headers.get('intercept-target'), 'echo')
    const no = await ask('?target=echo', {
      'X-Original-URI': '/admin/x',
      'X-Original-Method': 'DELETE',
    })
    assert.deepEqual([no.status, no.code], [403, 'rule_denied'])
    assert.deepEqual(gateway.upstream.seen, [])
  })

  test('Traefik and Caddy: X-Forwarded-Uri and X-Forwarded-Method', async () => {
    const headers = { 'X-Forwarded-Uri': `${prefix}/echo/admin/x`, 'X-Forwarded-Method': 'DELETE' }
    assert.equal((await ask('', headers)).code, 'rule_denied')
    assert.equal((await ask('', { ...headers, 'X-Forwarded-Method': 'GET' })).status, 200)
    assert.equal(
      (await ask('', { 'X-Forwarded-Uri': '/echo/x', 'X-Forwarded-Method': 'GET' })).status,
      200,
    )
  })

  test('a target without a path is refused: nobody decides on "/" for whatever was asked', async () => {
    const headers = { 'X-Original-Method': 'DELETE' }
    const answer = await ask('?target=echo', headers)
    assert.deepEqual([answer.status, answer.code], [400, 'bad_request'])
  })

  test('Envoy: the path is appended and the method is the request’s own', async () => {
    assert.equal((await ask('/echo/items?a=b', {}, gateway.bearer, 'POST')).status, 200)
    assert.equal((await ask('/echo/admin/x', {}, gateway.bearer, 'DELETE')).code, 'rule_denied')
    assert.equal((await ask('/missing/x', {}, gateway.bearer)).code, 'target_not_found')
  })

  test('a proxy that does not tell the method gets a yes only if every method may', async () => {
    assert.equal((await ask('?target=echo', { 'X-Original-URI': '/items' })).status, 200)
    assert.equal((await ask('?target=echo', { 'X-Original-URI': '/admin/x' })).code, 'rule_denied')
  })

  test('CVE-2026-40575: two different originals are refused', async () => {
    const headers = {
      'X-Original-URI': '/admin/x',
      'X-Forwarded-Uri': '/items',
      'X-Original-Method': 'DELETE',
    }
    assert.deepEqual((await ask('?target=echo', headers)).code, 'path_ambiguous')
    assert.equal((await ask('/echo/x', { 'X-Original-URI': '/admin/x' })).code, 'path_ambiguous')
  })

  test('the original path is judged as strictly as a forwarded one', async () => {
    for (const uri of ['/a/../b', '/a/%2e%2e/b', '/a%2fb', '//a', '/a\\b']) {
      const asked = await ask('?target=echo', { 'X-Original-URI': uri, 'X-Original-Method': 'GET' })
      assert.equal(asked.code, 'path_ambiguous', uri)
    }
  })

  test('without a key, or with a wrong one, it is 401; a key alone is a yes only if it may call everything', async () => {
    const none = await fetch(`${gateway.product.baseUrl}${prefix}/-/check`)
    assert.equal(none.status, 401)
    assert.equal((await ask('', {}, { id: '', secret: 'svc_live_x' })).status, 401)
    assert.equal((await ask('', {})).status, 200)
    assert.equal(
      (await ask('', {}, await gateway.issue('--grant', 'echo'))).code,
      'target_not_found',
    )
  })

  test('the decision spends limits as a call does', async () => {
    const limited = await gateway.issue('--rate', '1/m')
    const headers = { 'X-Original-URI': '/x', 'X-Original-Method': 'GET' }
    assert.equal((await ask('?target=echo', headers, limited)).status, 200)
    assert.equal((await ask('?target=echo', headers, limited)).code, 'rate_limited')
  })
})
