import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import { memberships, organizations, users, type Tx } from '../../src/store/index.ts'
import { withStore } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept, type CommandResult } from '../harness/terminal.ts'

const listed = 1000
const startedAt = Date.now()

describe('an address among more members than a page lists', () => {
  let product: TestProduct
  let remote: Record<string, string>
  let joined = 0

  before(async () => {
    product = await productForTests()
    assert.equal((await local('org create acme')).code, 0)
    await join(['twin@acme.test'])
    await join(Array.from({ length: listed }, (_, at) => `member${at}@acme.test`))
    await join(['twin@acme.test', 'last@acme.test', 'Élise@acme.test'])
    const issued = await local(
      'token issue acme --name ci --permission traffic.see --permission members.manage --json',
    )
    const { secret } = JSON.parse(issued.out) as { secret: string }
    remote = {
      INTERCEPT_SERVER: product.baseUrl,
      INTERCEPT_TOKEN: secret,
      INTERCEPT_ORG: 'acme',
    }
  })
  after(async () => await product[Symbol.asyncDispose]())

  const local = async (words: string): Promise<CommandResult> =>
    await intercept(words.split(' '), { env: { ...product.env } })

  async function join(emails: readonly string[]): Promise<void> {
    await withStore(product, async (store) => {
      const acme = (await organizations.findBySlug(store, 'acme')) ?? assert.fail()
      await store.transaction(async (tx) => {
        for (const email of emails) {
          const now = startedAt + joined++
          const userId = createId('usr', now)
          // An address that an organization's directory supplied need not be unique.
          await users.insert(tx, { id: userId, name: email, email, emailFrom: acme.id })
          const [role, source] = ['developer', 'directory'] as const
          const id = createId('mem', now)
          await memberships.insert(tx, { id, organizationId: acme.id, userId, role, source })
        }
      })
    })
  }

  test('that two have is refused, however far apart they are listed', async () => {
    for (const env of [{ ...product.env }, remote]) {
      const said = await intercept(['member', 'role', 'acme', 'twin@acme.test', 'viewer'], { env })
      assert.equal(said.code, 1, said.out)
      assert.match(said.err, /Several members have the address/)
    }
  })

  test('that one has at the end of the list is found, in any case and with any letters', async () => {
    for (const env of [{ ...product.env }, remote]) {
      for (const who of ['Last@acme.test', 'élise@acme.test']) {
        const said = await intercept(['member', 'role', 'acme', who, 'viewer'], { env })
        assert.equal(said.code, 0, said.err)
      }
    }
    const nobody = await local('member role acme nobody@acme.test viewer')
    assert.match(nobody.err, /is no member there/)
  })

  test('a list that ends before its end says so, and says nothing in front of `--json`', async () => {
    for (const env of [{ ...product.env }, remote]) {
      const said = await intercept(['member', 'list', 'acme', '--json'], { env })
      assert.equal(said.code, 0, said.err)
      assert.equal((JSON.parse(said.out) as unknown[]).length, listed)
      assert.match(said.err, /^Only the first 1000 are listed/)
      const few = await intercept(['member', 'list', 'acme', '--search', 'member99'], { env })
      assert.equal(few.err, '')
    }
  })

  test('a list of organizations says so only once there are more', async () => {
    await withStore(product, async (store) => {
      await store.transaction(async (tx) => {
        for (let at = 1; at < listed; at++) await addOrganization(tx, at)
      })
    })
    const all = await local('org list --json')
    assert.deepEqual([(JSON.parse(all.out) as unknown[]).length, all.err], [listed, ''])
    await withStore(
      product,
      async (store) => await store.transaction(async (tx) => await addOrganization(tx, listed)),
    )
    const most = await local('org list --json')
    assert.equal((JSON.parse(most.out) as unknown[]).length, listed)
    assert.match(most.err, /^Only the first 1000 are listed/)
  })
})

async function addOrganization(tx: Tx, number: number): Promise<void> {
  const slug = `org-${number}`
  await organizations.insert(tx, { id: createId('org'), slug, name: slug, plan: 'standard' })
}
