import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Keys } from '../../src/access/index.ts'
import { firstOwner, memberOf, personWith, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import type { OrganizationId } from '../../src/ids.ts'

const at = '/organizations/acme/keys'

describe('whose keys a developer may change', () => {
  let product: TestProduct
  let owner: Person
  let developer: Person
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
    developer = await memberOf(product, 'acme', { email: 'dev@acme.test', role: 'developer' })
  })
  after(async () => await product[Symbol.asyncDispose]())

  const changes: readonly [string, object | undefined][] = [
    ['PUT', { name: 'other' }],
    ['POST /rotate', { overlap_seconds: 0 }],
    ['POST /end-old-secret', undefined],
    ['POST /revoke', undefined],
  ]

  async function attempts(person: Person, id: string): Promise<number[]> {
    const statuses: number[] = []
    for (const [what, body] of changes) {
      const [method, more = ''] = what.split(' ')
      statuses.push((await person.call(`${method} ${at}/${id}${more}`, body)).status)
    }
    return statuses
  }

  test('keys of their own making, all of it; keys of others, nothing', async () => {
    const own = await developer.call(`POST ${at}`, { name: 'own' })
    assert.deepEqual(await attempts(developer, own.json.key.id), [200, 201, 200, 200])
    const others = await owner.call(`POST ${at}`, { name: 'others' })
    assert.deepEqual(await attempts(developer, others.json.key.id), [403, 403, 403, 403])
    const still = await owner.call(`GET ${at}/${others.json.key.id}`)
    assert.equal(still.json.state, 'active')
    assert.equal(still.json.name, 'others')
    assert.equal(still.json.secrets.length, 1)
  })

  test('GHSA-cq3f-vc6p-68fh: a key that nobody made belongs to no developer', async () => {
    const organizations = await owner.call('GET /organizations')
    const organizationId = organizations.json.items[0].id as OrganizationId
    const { key } = await withStore(product, async (store) =>
      new Keys({ store, clock: product.clock }).issue(
        organizationId,
        { name: 'by the operator', scheme: 'bearer' },
        { kind: 'operator' },
      ),
    )
    assert.deepEqual(await attempts(developer, key.id), [403, 403, 403, 403])
  })

  test('CVE-2025-61928: without a session, a body that names somebody makes no key for them', async () => {
    const me = await owner.call('GET /me')
    const stranger = personWith(product.baseUrl)
    for (const body of [
      { name: 'x', userId: me.json.id },
      { name: 'x', createdBy: me.json.id, personalUserId: me.json.id },
    ]) {
      assert.equal((await stranger.call(`POST ${at}`, body)).status, 401)
    }
    const found = await owner.call(`GET ${at}?search=x`)
    assert.deepEqual(found.json.items, [])
  })

  test('a member who leaves takes personal keys along; the organization’s keys stay', async () => {
    const leaver = await memberOf(product, 'acme', { email: 'leaver@acme.test', role: 'developer' })
    const shared = await leaver.call(`POST ${at}`, { name: 'shared' })
    const personal = await leaver.call(`POST ${at}`, { name: 'personal', personal: true })
    const members = await owner.call('GET /organizations/acme/members?limit=200')
    const row = members.json.items.find(
      (one: { email: string }) => one.email === 'leaver@acme.test',
    )
    const path = `/organizations/acme/members/${row.id}`
    const stateOf = async (id: string) => (await owner.call(`GET ${at}/${id}`)).json.state
    await owner.call(`PATCH ${path}`, { active: false })
    assert.equal(await stateOf(personal.json.key.id), 'suspended')
    assert.equal(await stateOf(shared.json.key.id), 'active')
    await owner.call(`PATCH ${path}`, { active: true })
    assert.equal(await stateOf(personal.json.key.id), 'active')
    const removed = await owner.call(`DELETE ${path}`)
    assert.equal(removed.json.keys, 1)
    assert.equal(await stateOf(personal.json.key.id), 'revoked')
    assert.equal(await stateOf(shared.json.key.id), 'active')
  })
})
