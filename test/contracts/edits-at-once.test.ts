import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAddressGuard, createOutbound } from '../../src/http/index.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import type { Actor } from '../../src/store/index.ts'
import { createTargets, defaultSettings, type Targets } from '../../src/targets/index.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { createWebhooks, type Webhooks } from '../../src/webhooks/index.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

const operator: Actor = { kind: 'operator' }
// The database decides how two requests interleave, so each test runs enough pairs for some to overlap.
const pairs = 20

for (const engine of engines) {
  describe(`edits at the same moment on ${engine}`, () => {
    const clock = steadyClock()
    const sealer = createSealer(['a master secret of the tests, long enough'])
    const reach = { allowLoopback: true }
    let opened: TestStore
    let acme: OrganizationId
    let targets: Targets
    let endpoints: Webhooks['endpoints']
    before(async () => {
      opened = await storeForTests(engine, clock)
      const { store } = opened
      acme = (await new Organizations({ store }).create({ slug: 'acme' }, operator)).id
      const outbound = createOutbound(reach)
      const log = createLog({ level: 'silent' })
      const deps = { store, sealer, clock, outbound, log, defaults: defaultSettings(1000) }
      targets = createTargets({ ...deps, guard: createAddressGuard(reach) })
      endpoints = createWebhooks({ ...deps, maxEndpoints: undefined }).endpoints
    })
    after(async () => await opened[Symbol.asyncDispose]())

    test('a target that one disables while another renames it is disabled and has the new name', async () => {
      await targets.create(acme, { slug: 'shop', upstream: 'http://127.0.0.1:9000' }, operator)
      const at = { organizationId: acme, idOrSlug: 'shop' }
      for (let pair = 0; pair < pairs; pair++) {
        await targets.edit(at, { disabled: false }, operator)
        await Promise.all([
          targets.edit(at, { disabled: true }, operator),
          targets.edit(at, { name: `Shop ${pair}` }, operator),
        ])
        const { disabledAt, name } = await targets.get(acme, 'shop')
        assert.deepEqual([disabledAt !== undefined, name], [true, `Shop ${pair}`])
      }
    })

    test('the headers that one gives an endpoint with its new address do not follow it where another sends it', async () => {
      const [ours, theirs] = ['https://127.0.0.1:8441/ours', 'https://127.0.0.1:8442/theirs']
      const { id } = await endpoints.create(acme, { url: theirs }, operator)
      for (let pair = 0; pair < pairs; pair++) {
        await endpoints.update(acme, id, { input: { url: theirs, headers: {} }, actor: operator })
        await Promise.all([
          endpoints.update(acme, id, {
            input: { url: ours, headers: { 'X-Secret': 'canary' } },
            actor: operator,
          }),
          endpoints.update(acme, id, { input: { url: theirs }, actor: operator }),
        ])
        const { url, headerNames } = await endpoints.get(acme, id)
        assert.deepEqual(headerNames, url === ours ? ['X-Secret'] : [])
      }
    })
  })
}
