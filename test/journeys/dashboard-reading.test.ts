import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

describe('while an answer is on its way', { timeout: 120_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person
  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    const body = { url: 'http://127.0.0.1:49999/hook', description: 'Billing' }
    const made = await owner.call('POST /organizations/acme/webhooks/endpoints', body)
    assert.equal(made.status, 201, made.text)
    await owner.call(`POST /organizations/acme/webhooks/endpoints/${made.json.id}/ping`)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link })
  }

  test('a delivery is not said to go to a deleted endpoint', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const release = await holdBack(page, /\/webhooks\/endpoints$/)
    await page.goto(`${product.baseUrl}/o/acme/webhooks/deliveries`)
    const row = page.getByRole('row', { name: /webhook\.ping/ })
    await row.waitFor()
    assert.doesNotMatch((await row.textContent()) ?? '', /deleted/i)
    release()
    await row.getByText('Billing').waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('nobody hears that there is no endpoint for a sample', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const release = await holdBack(page, /\/webhooks\/endpoints$/)
    await page.goto(`${product.baseUrl}/o/acme/webhooks/types`)
    await page.getByRole('button', { name: 'Send this sample' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Reading…').waitFor()
    release()
    await dialog.getByRole('option', { name: 'Billing' }).waitFor({ state: 'attached' })
    assert.deepEqual(visitor.findings, [])
  })

  test('nobody who revokes a key hears that it was not used', async () => {
    const { key } = (await owner.call('POST /organizations/acme/keys', { name: 'busy' })).json
    await using visitor = await visit()
    const { page } = visitor
    const release = await holdBack(page, /\/calls\?.*key=/)
    await page.goto(`${product.baseUrl}/o/acme/keys/${key.id}`)
    await page.getByRole('button', { name: 'Revoke' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Revoke busy?' })
    await dialog.getByText('Reading…').waitFor()
    assert.equal(await dialog.getByText('Nobody has used it').count(), 0)
    release()
    await dialog.getByText('Nobody has used it').waitFor()
    assert.deepEqual(visitor.findings, [])
  })
})

/** Holds back the page's requests to addresses that match, until the returned function is called. */
async function holdBack(page: Page, address: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}
