import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSigningKeys, type SigningKeys } from '../../src/access/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { dayMs, hourMs } from '../../src/units.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'
import { until } from '../harness/webhooks.ts'

const sealer = createSealer(['x'.repeat(32)])

for (const engine of engines) {
  test(`a retired signing key is published for two days, until no token of it can be valid, on every node (${engine})`, async () => {
    const clock = steadyClock()
    await using opened = await storeForTests(engine, clock)
    const here = await openSigningKeys({ store: opened.store, sealer, clock })
    const there = await openSigningKeys({ store: await opened.another(), sealer, clock })
    const old = here.signer().kid
    clock.forward(30 * dayMs)
    await here.rotate()
    const newest = here.signer().kid
    assert.deepEqual(kidsOf(here), [newest, old])
    clock.forward(2 * dayMs - hourMs)
    await here.rotate()
    assert.deepEqual(kidsOf(here), [newest, old])
    clock.forward(2 * hourMs)
    await here.rotate()
    assert.deepEqual(kidsOf(here), [newest])
    await until(() => kidsOf(there).join() === newest, 'the other node withdraws it too')
    assert.equal(there.publicJwkOf(old), undefined)
    assert.equal(there.signer().kid, newest)
  })
}

function kidsOf(keys: SigningKeys): unknown[] {
  return keys.jwks().keys.map(({ kid }) => kid)
}
