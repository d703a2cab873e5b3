import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileIdp } from '../harness/hostile-idp.ts'
import { lies } from '../harness/hostile-lies.ts'
import { neighboursForTests } from '../harness/neighbours.ts'

test('a clock that differs is named with the difference', async () => {
  await using place = await neighboursForTests()
  // Sixty seconds are tolerated between the clocks of the provider and the product.
  place.product.clock.forward(-65_000)
  const claims = { sub: 'clock', email: 'clock@acme.test' }
  const refused = await place.arrive(place.ours.start, claims)
  assert.equal(refused.refused, 'id_token_invalid')
  assert.match(refused.text, /6\d s ahead of our clock, and up to 60 s are allowed/)
})

test("Entra's address of all tenants is explained, not offered", async () => {
  await using idp = await hostileIdp(lies)
  const place = await neighboursForTests()
  await using _ = place
  const made = await place.owner.call('POST /organizations/acme/connections', {
    issuer: idp.issuerOf('entra-template'),
    client_id: 'x',
    client_secret: 's',
  })
  assert.equal(made.json.code, 'idp_discovery_invalid', made.text)
  assert.match(made.json.detail, /address of all tenants of Microsoft Entra/)
  assert.doesNotMatch(made.json.detail, /\{tenantid\}/)
})
