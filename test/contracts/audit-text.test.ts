// An audit entry must be hashed as the database returns it, whatever text it contains.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAudit, record } from '../../src/audit/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { Links, People } from '../../src/organizations/index.ts'
import { organizations, users } from '../../src/store/index.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

// 100 characters, the last of which is two UTF-16 code units: a cut after 100 units would divide it.
const dividedName = `${'a'.repeat(99)}\u{1f600}`

for (const engine of engines) {
  describe(`text in the audit log on ${engine}`, () => {
    const clock = steadyClock()
    let opened: TestStore
    before(async () => void (opened = await storeForTests(engine, clock)))
    after(async () => await opened[Symbol.asyncDispose]())

    async function organization(): Promise<OrganizationId> {
      const id = createId('org')
      const fields = { id, slug: id, name: 'x', plan: 'standard' } as const
      await opened.store.transaction(async (tx) => await organizations.insert(tx, fields))
      return id
    }

    test('half a surrogate pair and U+0000 in the name of an actor leave the chain intact', async () => {
      const { store } = opened
      const organizationId = await organization()
      for (const name of ['half \ud83d', '\ude00 half', 'nothing \u0000']) {
        await store.transaction(async (tx) =>
          record(tx, {
            organizationId,
            actor: { kind: 'user', id: name, name },
            action: 'user.renamed',
            subject: { kind: 'user', id: name },
            detail: { name },
          }),
        )
      }
      const report = await createAudit({ store }).verify(organizationId)
      assert.deepEqual([report.brokenAt, report.reason, report.entries], [undefined, undefined, 3])
    })

    test('the name of the first owner is cut between characters, and the chain that it starts is intact', async () => {
      const { store } = opened
      const links = new Links({ store, clock, baseUrl: 'http://localhost:8080' })
      const link = await links.setupLink()
      const token = new URL(link ?? '').searchParams.get('token') ?? ''
      const input = { name: dividedName, email: 'o@acme.test', organization: { slug: 'acme' } }
      const made = await links.setUp(token, input, { kind: 'system' })
      assert.equal((await users.find(store, made.user.id))?.name, dividedName)
      const report = await createAudit({ store }).verify(made.organization.id)
      assert.deepEqual([report.brokenAt, report.reason], [undefined, undefined])
    })

    test('the name of somebody whom a provider introduces is cut between characters', async () => {
      const { store } = opened
      const people = new People({ store, clock, signUp: 'open' } as never)
      const proven = {
        ...{ provider: 'github', issuer: 'https://github.test', subject: '7', connectionId: '' },
        ...{ email: 'new@b.test', emailVerified: true, name: `${dividedName} and more` },
      }
      const { user } = await people.recognize(proven, { kind: 'system' })
      assert.equal(user.name, dividedName)
    })
  })
}
