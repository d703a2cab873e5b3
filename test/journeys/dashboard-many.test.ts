// The pages read only a limited number of rows, and here there are more.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import { memberships, organizations, users } from '../../src/store/index.ts'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/gateway.ts'
import { idpForTests, type TestIdp } from '../harness/idp.ts'
import { addMember, firstOwner, withLinks, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { command } from '../harness/sso.ts'

const at = '/organizations/acme'
const readAtOnce = 200

describe('an organization with many members and calls', { timeout: 120_000 }, () => {
  let product: TestProduct
  let idp: TestIdp
  let browser: TestBrowser
  let owner: Person

  before(async () => {
    freshDashboard()
    product = await productForTests()
    idp = await idpForTests()
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    await withStore(product, async (store) => {
      await store.transaction(async (tx) => {
        const { id: organizationId } = (await organizations.findBySlug(tx, 'acme'))!
        for (let index = 0; index < readAtOnce; index++) {
          const name = `Viewer ${index}`
          const { id: userId } = await users.insert(tx, { id: createId('usr'), name, email: name })
          const member = { organizationId, userId, role: 'viewer', source: 'operator' } as const
          await memberships.insert(tx, { id: createId('mem'), ...member })
        }
      })
    })
    await addMember(product, 'acme', { email: 'late@acme.test', role: 'owner' })
    await addMember(product, 'acme', { email: 'admin@acme.test', role: 'admin' })
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  async function visit(email: string): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink(email))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link })
  }

  test('offers every owner for emergencies, whenever they joined', async () => {
    const client = { issuer: idp.issuer, client_id: idp.clientId, client_secret: 'secret' }
    assert.equal((await owner.call(`POST ${at}/connections`, client)).status, 201)
    await using visitor = await visit('olga@acme.test')
    await visitor.page.goto(`${product.baseUrl}/o/acme/sso?tab=connection`)
    await visitor.page.getByRole('checkbox', { name: /Olga Owner/ }).waitFor()
    await visitor.page.getByRole('checkbox', { name: /late@acme.test/ }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('does not understate the calls of the last hour before a key is revoked', async () => {
    const echo = { slug: 'echo', upstream: 'http://echo.intercept.internal/' }
    assert.equal((await owner.call(`POST ${at}/targets`, echo)).status, 201)
    const { json } = await owner.call(`POST ${at}/keys`, { name: 'busy' })
    const headers = { 'x-api-key': json.secret }
    for (let index = 0; index <= readAtOnce; index++) {
      await (await fetch(`${product.baseUrl}/api/v1/intercept/echo/`, { headers })).arrayBuffer()
    }
    const asked = `GET ${at}/calls?key=${json.key.id}&limit=200`
    await until(async () => (await owner.call(asked)).json.next !== null)
    await using visitor = await visit('olga@acme.test')
    await visitor.page.goto(`${product.baseUrl}/o/acme/keys/${json.key.id}?do=revoke`)
    await visitor.page.getByText('At least 200 calls in the last hour').waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('shows every call that came between two looks of the live tail', async () => {
    const { json } = await owner.call(`POST ${at}/keys`, { name: 'live' })
    const headers = { 'x-api-key': json.secret }
    const callOnce = async () =>
      await (await fetch(`${product.baseUrl}/api/v1/intercept/echo/`, { headers })).arrayBuffer()
    const records = async (more: string): Promise<number> =>
      (await owner.call(`GET ${at}/calls?key=${json.key.id}&limit=200${more}`)).json.items.length
    await callOnce()
    await until(async () => (await records('')) === 1)
    await using visitor = await visit('olga@acme.test')
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls?live=on&key=${json.key.id}`)
    const row = page.locator('tr[data-row]').first()
    await row.focus()
    // A hidden tab does not ask for new calls.
    const show = async (state: string) =>
      await page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })`,
      )
    await show('hidden')
    const before = (await owner.call(`GET ${at}/calls?key=${json.key.id}`)).json.items[0].id
    for (let index = 0; index < readAtOnce + 50; index++) await callOnce()
    await until(async () => {
      const path = `GET ${at}/calls?key=${json.key.id}&limit=200&newer=${before}`
      const { next } = (await owner.call(path)).json
      return next !== null && (await records(`&newer=${before}&after=${next}`)) === 50
    })
    await show('visible')
    await page.getByRole('button', { name: 'Show 250 new calls' }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('offers an administrator no action on an owner that only owners may take', async () => {
    const { items } = (await owner.call(`GET ${at}/members?role=owner`)).json
    await using visitor = await visit('admin@acme.test')
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/members/${items[0].id}`)
    await page.getByRole('heading', { name: 'Olga Owner' }).waitFor()
    await page.getByText('Only an owner changes the role of an owner.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Change role' }).count(), 0)
    assert.ok(await page.getByLabel(/^Viewer/).isDisabled())
    assert.equal(await page.getByRole('button', { name: 'Deactivate' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Remove' }).count(), 0)
    assert.deepEqual(visitor.findings, [])
  })
})
