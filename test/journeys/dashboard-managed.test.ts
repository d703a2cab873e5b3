import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const file = `version: 1
organization:
  slug: acme
targets:
  payments:
    upstream: http://127.0.0.1:8099/
endpoints:
  orders:
    url: http://127.0.0.1:9000/hook
keys:
  ci:
    grants: [payments:GET]
`
const at = '/organizations/acme'

describe('what a file owns', { timeout: 120_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person
  let visitor: Visitor
  let page: Page

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    browser = await browserForTests()
    const applied = await owner.call(`POST ${at}/configuration/apply`, { file, label: 'acme.yaml' })
    assert.equal(applied.status, 201, applied.text)
    const own = await owner.call(`POST ${at}/keys`, { name: 'made by hand' })
    assert.equal(own.status, 201, own.text)
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    page = visitor.page
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  const open = async (path: string) => await page.goto(`${product.baseUrl}/o/acme${path}`)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const notice = () => page.getByText('Managed by the file acme.yaml')

  test('is named with its file in every list, and what people made is not', async () => {
    for (const path of ['/targets', '/webhooks', '/keys']) {
      await open(path)
      await page.getByText('managed by acme.yaml').waitFor()
      assert.equal(await page.getByText('managed by acme.yaml').count(), 1, path)
    }
    await checkState(visitor, 'managed-keys-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('is locked with the reason wherever the file rules, while emergencies stay free', async () => {
    await open('/keys')
    await page.getByRole('row', { name: /managed by acme.yaml/ }).press('Enter')
    await notice().waitFor()
    assert.ok(await button('Edit key').isDisabled())
    assert.ok(await button('Rotate').isEnabled())
    assert.ok(await button('Revoke key').isEnabled())
    await open('/settings')
    await notice().waitFor()
    assert.ok(await page.getByLabel('Name', { exact: true }).isDisabled())
    assert.ok(await page.getByLabel('Calls', { exact: true }).isDisabled())
    await open('/webhooks')
    await page.getByRole('row', { name: /127.0.0.1:9000/ }).press('Enter')
    await notice().waitFor()
    assert.ok(await button('Edit').isDisabled())
    await button('More').click()
    const item = page.getByRole('menuitem', { name: 'Delete' })
    assert.equal(await item.getAttribute('aria-disabled'), 'true')
    await page.keyboard.press('Escape')
    assert.deepEqual(visitor.findings, [])
  })

  test('can be taken over after a question, is then changed here, and the audit log says who did it', async () => {
    await open('/targets/payments?tab=upstream')
    await notice().waitFor()
    await checkState(visitor, 'managed-target-light')
    assert.ok(await page.getByLabel('Name', { exact: true }).isDisabled())
    assert.ok(await button('Disable target').isDisabled())
    await button('Take over payments').click()
    const question = page.getByRole('alertdialog', { name: 'Take over payments?' })
    await question.getByText('The next apply of acme.yaml').waitFor()
    await checkState(visitor, 'managed-take-over-light')
    await question.getByRole('button', { name: 'Take over' }).click()
    await page.getByText('Taken over from acme.yaml').waitFor()
    await notice().waitFor({ state: 'detached' })
    await page.getByLabel('Name', { exact: true }).fill('Ours now')
    await button('Save').first().click()
    await page.getByText('Upstream saved').waitFor()
    const changed = await owner.call(`GET ${at}/targets/payments`)
    assert.equal(changed.json.name, 'Ours now')
    await open('/audit')
    await page.getByText('Took over payments from its configuration file').waitFor()
    assert.deepEqual(visitor.findings, [])
  })
})
