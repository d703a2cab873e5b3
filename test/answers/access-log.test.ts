import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gatewayForTests, until } from '../harness/gateway.ts'

test('the access log has one line for each call and request, strangers included, and no secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-access-'))
  const path = join(folder, 'access.log')
  try {
    await using gateway = await gatewayForTests({ settings: { ACCESS_LOG: path } })
    await gateway.call('/echo/known?token=canary', gateway.xApiKey)
    await gateway.call('/echo/stranger', undefined)
    await fetch(`${gateway.product.baseUrl}/api/v1/me`)
    await fetch(`${gateway.product.baseUrl}/invitations/inv_canary-canary`)
    await fetch(`${gateway.product.baseUrl}/scim/v2/Users/%ff?token=canary`)
    const lines = () => readFileSync(path, 'utf8').trim().split('\n')
    await until(() => lines().length >= 5)
    const entries = lines().map((line) => JSON.parse(line) as Record<string, unknown>)
    const known = entries.find((entry) => entry['path'] === '/api/v1/intercept/echo/known')
    assert.equal(known?.['organization'], 'acme')
    assert.equal(known?.['key'], gateway.xApiKey.id)
    assert.equal(known?.['status'], 200)
    const stranger = entries.find((entry) => String(entry['path']).endsWith('/stranger'))
    assert.equal(stranger?.['refused'], 'credential_missing')
    assert.ok(entries.some((entry) => entry['path'] === '/api/v1/me' && entry['status'] === 401))
    const undecodable = entries.find((entry) => entry['path'] === '/scim/v2/Users/%ff')
    assert.deepEqual(
      [undecodable?.['area'], undecodable?.['status'], undecodable?.['refused']],
      ['scim', 400, 'bad_request'],
    )
    const text = readFileSync(path, 'utf8')
    assert.ok(!text.includes('canary') && !text.includes(gateway.xApiKey.secret), text)
    assert.equal(statSync(path).mode & 0o777, 0o600)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
