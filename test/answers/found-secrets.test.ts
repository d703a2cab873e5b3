import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintCredential } from '../../src/secrets/index.ts'
import { gatewayForTests, type TestGateway } from '../harness/gateway.ts'

async function present(gateway: TestGateway, secret: string): Promise<Response> {
  const answer = await fetch(`${gateway.product.baseUrl}/api/v1/credentials/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret }),
  })
  await answer.arrayBuffer()
  return answer
}

test('a found SCIM token is dead once it was presented', async () => {
  await using gateway = await gatewayForTests()
  await gateway.run('org', 'set-plan', 'acme', 'enterprise')
  const { secret } = await gateway.run('scim', 'token', 'issue', 'acme', '--name', 'leaked')
  const ask = async () =>
    (
      await fetch(`${gateway.product.baseUrl}/scim/v2/Users`, {
        headers: { authorization: `Bearer ${String(secret)}` },
      })
    ).status
  assert.equal(await ask(), 200)
  assert.equal((await present(gateway, String(secret))).status, 200)
  assert.equal(await ask(), 401)
})

test('found secrets cost a source as much as guessed ones: beyond the limit nothing is looked up', async () => {
  await using gateway = await gatewayForTests({ settings: { LIMIT_FAILED_CREDENTIALS: '1/s' } })
  const statuses = new Set<number>()
  let refused: Response | undefined
  for (let sent = 0; sent < 300 && refused === undefined; sent++) {
    const answer = await present(gateway, mintCredential('svc_live_').secret.reveal())
    statuses.add(answer.status)
    if (answer.status === 429) refused = answer
  }
  assert.deepEqual([...statuses], [200, 429])
  assert.equal(refused?.headers.get('intercept-refused'), 'rate_limited')
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
})
