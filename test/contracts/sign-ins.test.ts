import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAudit, record } from '../../src/audit/index.ts'
import type { AuditAction } from '../../src/store/index.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

const hourMs = 3_600_000
const actor = { kind: 'operator' } as const

for (const engine of engines) {
  describe(`sign-ins over time on ${engine}`, () => {
    const clock = steadyClock()
    let place: TestStore
    before(async () => {
      place = await storeForTests(engine, clock)
    })
    after(async () => await place[Symbol.asyncDispose]())

    test('each lies in its step, the company’s apart from others, and another organization’s nowhere', async () => {
      const { store } = place
      const organizations = new Organizations({ store })
      const acme = await organizations.create({ slug: 'acme' }, actor)
      const other = await organizations.create({ slug: 'other' }, actor)
      const from = Math.floor(clock.now() / hourMs) * hourMs
      const enter = async (organizationId: typeof acme.id, ...actions: readonly AuditAction[]) =>
        await store.transaction(async (tx) => {
          const subject = { kind: 'session', id: 'ses_1' }
          for (const action of actions)
            record(tx, { organizationId, actor, action, subject, detail: {} })
        })
      await enter(acme.id, 'session.started', 'sso.signed_in', 'session.started', 'api_key.issued')
      await enter(other.id, 'session.started', 'sso.refused')
      clock.forward(2 * hourMs)
      await enter(acme.id, 'sso.refused', 'session.started')
      const range = { from, to: from + 3 * hourMs, stepMs: hourMs }
      assert.deepEqual(await createAudit({ store }).signIns(acme.id, range), [
        { at: from, company: 1, other: 1, refused: 0 },
        { at: from + hourMs, company: 0, other: 0, refused: 0 },
        { at: from + 2 * hourMs, company: 0, other: 1, refused: 1 },
      ])
    })
  })
}
