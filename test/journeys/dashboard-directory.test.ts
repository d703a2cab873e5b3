import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { command } from '../harness/sso.ts'
import { commandLine, patchUrn, scimCall, userUrn } from '../conformance/scim/directory.ts'

const hourMs = 3_600_000

describe('the directory in the dashboard', { timeout: 120_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let token: string

  before(async () => {
    freshDashboard()
    product = await productForTests()
    await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    const words = ['scim', 'token', 'issue', 'acme', '--name', 'Okta']
    token = String((await commandLine(words, product))['secret'])
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  test('failures are picked out, a request opens with its body, and a person shows what is kept of them', async () => {
    const body = {
      schemas: [userUrn],
      userName: 'dora@acme.test',
      externalId: 'hr-dora',
      name: { givenName: 'Dora', familyName: 'Directory' },
      department: 'Optics',
      shoeSize: 44,
    }
    const create = async (): Promise<number> =>
      (await scimCall(`${product.baseUrl}/scim/v2/Users`, 'POST', { token, body })).status
    assert.deepEqual([await create(), await create()], [201, 409])

    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    await using visitor = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      link,
    })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/sso?tab=directory`)
    await page.getByText('Passed over: shoeSize').waitFor()
    await page.getByRole('button', { name: 'Refused', exact: true }).click()
    await page.getByText('Passed over: shoeSize').waitFor({ state: 'detached' })
    await page.getByText('There is a user with this externalId already.').click()
    await page.getByText('409 uniqueness').waitFor()
    await page.getByRole('group', { name: 'Body, without secrets' }).waitFor()
    await checkState(visitor, 'directory-request-light')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'JumpCloud' }).click()
    const guide = await page.getByRole('link', { name: /guide/i }).last().getAttribute('href')
    assert.equal(guide, '/guides/scim-jumpcloud')

    await page.getByRole('link', { name: 'Dora Directory' }).click()
    await page.getByText('As the directory keeps this person').waitFor()
    const stored = await page.getByRole('group', { name: 'Stored attributes' }).textContent()
    assert.match(stored ?? '', /"department": "Optics"/)
    await page.getByText('Last requests about this person').waitFor()
    await checkState(visitor, 'directory-person-light')
    await page.getByRole('link', { name: 'History in the audit log' }).click()
    await page.locator('code', { hasText: 'directory_user.created' }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('a directory that adopts and deactivates the only owner ends their sessions, and the page says who was kept', async () => {
    const email = 'olga@acme.test'
    const linked = async (): Promise<string> =>
      await withLinks(product, async (links) => await links.signInLink(email))
    const users = `${product.baseUrl}/scim/v2/Users`
    const body = { schemas: [userUrn], userName: email, active: true }
    const adopted = await scimCall(users, 'POST', { token, body })
    assert.equal(adopted.status, 201, JSON.stringify(adopted.body))
    const off = await scimCall(`${users}/${String(adopted.body.id)}`, 'PATCH', {
      token,
      body: { schemas: [patchUrn], Operations: [{ op: 'replace', path: 'active', value: false }] },
    })
    assert.deepEqual([off.status, off.body.active], [200, false])

    await using visitor = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      link: await linked(),
    })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/sso?tab=directory`)
    await page.getByText('The directory deactivated Olga Owner, the only owner').waitFor()
    await checkState(visitor, 'directory-kept-owner-light')
    await page.getByRole('link', { name: 'Olga Owner' }).first().click()
    await page.getByText('As the directory keeps this person').waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('a directory that has been silent for a day says so', async () => {
    product.clock.forward(30 * hourMs)
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    await using visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/sso?tab=directory`)
    await page.getByText('Nothing has come for 30 hours').waitFor()
    assert.deepEqual(visitor.findings, [])
  })
})
