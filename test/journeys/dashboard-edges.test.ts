import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const looks = [
  { look: 'light', width: 1360, colorScheme: 'light' },
  { look: 'narrow-dark', width: 390, colorScheme: 'dark' },
] as const
const requestId = 'req_01kaexample0000000000000000'

describe('an open tab of the dashboard', () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    const made = await owner.call('POST /organizations/acme/keys', { name: 'seen-before' })
    assert.equal(made.status, 201)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(
    look: (typeof looks)[number],
    expected: readonly RegExp[],
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, expected, ...look })
  }

  for (const view of looks) {
    const { look } = view
    test(`after an upgrade a page whose files are gone reloads once and is there (${look})`, async () => {
      await using visitor = await visit(view, [/status of 404/, /A file of this page did not come/])
      const { page } = visitor
      await page.goto(`${product.baseUrl}/o/acme`)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      let loads = 0
      page.on('request', (request) => {
        if (request.isNavigationRequest()) loads++
      })
      await page.route('**/assets/Audit-*.js', async (route) => {
        if (loads === 0) await route.fulfill({ status: 404, body: '' })
        else await route.continue()
      })
      // Hovering over a link preloads its files. A missing file must not reload the page yet: somebody may be typing.
      if (view.width < 820) await page.getByRole('button', { name: 'Open navigation' }).click()
      const link = page.getByRole('link', { name: 'Audit log' }).first()
      const missing = page.waitForResponse((answer) => answer.status() === 404)
      await link.hover()
      await missing
      assert.equal(loads, 0)
      await link.click()
      await page.getByRole('heading', { name: 'Audit log' }).waitFor()
      assert.equal(loads, 1)
      assert.deepEqual(visitor.findings, [])
    })

    test(`while nothing answers the page says so, keeps what is typed, and goes on by itself (${look})`, async () => {
      await using visitor = await visit(view, [/net::ERR_/])
      const { page } = visitor
      await page.goto(`${product.baseUrl}/o/acme/keys?issue=now`)
      await page.getByLabel('Name', { exact: true }).fill(`typed while offline ${look}`)
      await visitor.context.setOffline(true)
      const banner = page.getByText('You are offline. What you see is from before.')
      await banner.waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click()
      await page.getByRole('alert').getByText('what you typed stays here').waitFor()
      await checkState(visitor, `offline-${look}`)
      await visitor.context.setOffline(false)
      await banner.waitFor({ state: 'detached' })
      await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByRole('link', { name: `typed while offline ${look}` }).waitFor()
      assert.deepEqual(visitor.findings, [])
    })

    test(`a restart of the server ends no session and loses no input (${look})`, async () => {
      await using visitor = await visit(view, [/net::ERR_/, /status of 50\d/])
      const { page } = visitor
      await page.goto(`${product.baseUrl}/o/acme/keys?issue=now`)
      await page.getByLabel('Name', { exact: true }).fill(`typed before the restart ${look}`)
      await product.restart()
      await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByRole('link', { name: `typed before the restart ${look}` }).waitFor()
      assert.deepEqual(visitor.findings, [])
    })

    test(`an answer 500 is shown with its code and request id, the rows stay, and trying again mends it (${look})`, async () => {
      await using visitor = await visit(view, [/status of 500/])
      const { page } = visitor
      await page.goto(`${product.baseUrl}/o/acme/keys`)
      await page.getByRole('link', { name: 'seen-before' }).waitFor()
      await page.route(/\/organizations\/acme\/keys(?:\?|$)/, async (route) => {
        await route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          headers: { 'intercept-request-id': requestId },
          body: JSON.stringify({
            type: `${product.baseUrl}/problems/internal_error`,
            title: 'Internal error',
            status: 500,
            code: 'internal_error',
            detail: 'Something went wrong here.',
            request_id: requestId,
          }),
        })
      })
      const alert = page.getByRole('alert')
      await alert.getByText(requestId).waitFor()
      await alert.getByRole('link', { name: 'internal_error' }).waitFor()
      assert.ok(await page.getByRole('link', { name: 'seen-before' }).isVisible())
      await checkState(visitor, `keys-500-${look}`)
      await page.unroute(/\/organizations\/acme\/keys(?:\?|$)/)
      await alert.getByRole('button', { name: 'Try again' }).click()
      await alert.waitFor({ state: 'detached' })
      assert.deepEqual(visitor.findings, [])
    })
  }
})
