import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorityForTests } from '../harness/certificate.ts'
import { firstOwner } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'

// Fields that a PATCH of the target cannot set: the server sets some itself, and another route sets others. The name of
// a credential's header can only be set together with the credential's value, which is never shown.
const onlyShown = ['id', 'slug', 'health', 'rules', 'otherwise_set', 'credential_header']
const counted = ['created_at', 'calls24h', 'refused24h', 'version']

test('every setting that a target shows can be sent back as it is, its CA certificate too', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const { cert: certificate } = authorityForTests('private')
  const made = await owner.call('POST /organizations/acme/targets', {
    ...{ slug: 'orders', name: 'Orders', upstream: 'https://127.0.0.1:9443', ca: certificate },
    ...{ rate_limit: { calls: 9, per_seconds: 1, burst: 20 }, quota: { calls: 5, period: 'day' } },
  })
  assert.equal(made.status, 201, JSON.stringify(made.json))
  assert.equal(made.json.ca, certificate)
  const settable = Object.entries(made.json as Record<string, unknown>).filter(
    ([name]) => !onlyShown.includes(name) && !counted.includes(name),
  )
  const sent = await owner.call('PATCH /organizations/acme/targets/orders', {
    ...Object.fromEntries(settable),
  })
  assert.equal(sent.status, 200, JSON.stringify(sent.json))
  for (const [name, value] of settable) assert.deepEqual(sent.json[name], value, name)
  const cleared = await owner.call('PATCH /organizations/acme/targets/orders', { ca: null })
  assert.equal(cleared.json.ca, undefined)
  const wrong = await owner.call('PATCH /organizations/acme/targets/orders', { ca: 'no PEM' })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.json.code, 'invalid_input')
})
