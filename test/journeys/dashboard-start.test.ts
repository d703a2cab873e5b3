import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { withLinks } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'

describe('the first hour in the dashboard', () => {
  let product: TestProduct
  let browser: TestBrowser
  let upstream: TestUpstream
  let secret = ''

  before(async () => {
    freshDashboard()
    product = await productForTests()
    browser = await browserForTests()
    upstream = await upstreamForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function signedIn(
    more: { width?: number; colorScheme?: 'light' | 'dark' } = {},
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('ada@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, ...more })
  }
  async function call(method: string, path: string): Promise<number> {
    const answer = await fetch(`${product.baseUrl}/api/v1/intercept${path}`, {
      method,
      headers: { 'X-API-Key': secret },
    })
    await answer.text()
    return answer.status
  }

  test('setup link → owner → organization → target → key → the waiting light turns when the call is made', async () => {
    await using visitor = await visitDashboard(browser, { baseUrl: product.baseUrl })
    const { page } = visitor
    const link = await withLinks(product, async (links) => await links.setupLink())
    await page.goto(link ?? '')
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
    await page.getByLabel('E-mail').fill('ada@acme.test')
    await checkState(visitor, 'setup-you-light')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('Name of the organization').fill('Acme GmbH')
    assert.equal(await page.getByLabel('Slug').inputValue(), 'acme-gmbh')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByLabel('Upstream address').fill(upstream.url)
    await page.getByLabel('Slug').fill('payments')
    await checkState(visitor, 'setup-target-light')
    await page.getByRole('button', { name: 'Add target' }).click()
    await page.getByRole('button', { name: 'Issue key' }).click()
    await page.getByText('Waiting for the first call with this key').waitFor()
    await checkState(visitor, 'setup-key-waiting-light')
    const curl = (await page.getByRole('group', { name: 'curl' }).textContent()) ?? ''
    secret = /svc_live_\w+/.exec(curl)?.[0] ?? ''
    assert.ok(curl.includes(`${product.baseUrl}/api/v1/intercept/payments/`), curl)
    assert.equal(await call('GET', '/payments/'), 200)
    await page.getByText('The first call arrived and was answered 200').waitFor()
    await checkState(visitor, 'setup-key-light')
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.getByText('3 of 5 done').waitFor()
    await checkState(visitor, 'overview-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('a used setup link says so and how to get another', async () => {
    await using visitor = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      expected: [/status of 4\d\d/],
    })
    await visitor.page.goto(`${product.baseUrl}/setup?token=${'x'.repeat(40)}`)
    await visitor.page.getByText('npx interceptd setup-link').waitFor()
    await checkState(visitor, 'setup-used-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('a rule is added, moved with the keyboard and saved; trying a request gives the same answer as the real call', async () => {
    await using visitor = await signedIn()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme-gmbh/targets/payments`)
    await page.getByText('No rules: every method and path is allowed').waitFor()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('button', { name: 'DELETE', exact: true }).click()
    await page.getByLabel('Path', { exact: true }).first().fill('/admin/*')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByLabel('Effect').selectOption('allow')
    await page.getByLabel('Path', { exact: true }).first().fill('/*')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('group', { name: /^2: allow/ }).focus()
    await page.keyboard.press('Alt+ArrowUp')
    await page.getByRole('group', { name: /^1: allow/ }).waitFor()
    await page.getByRole('button', { name: 'Move rule 1 down' }).click()
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Rules saved').waitFor()
    await page.getByLabel('Method').selectOption('DELETE')
    await page.getByLabel('Path', { exact: true }).fill('/admin/users')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('This call would be refused').waitFor()
    await page.getByText('403 rule_denied').waitFor()
    await checkState(visitor, 'target-refused-light')
    assert.equal(await call('DELETE', '/payments/admin/users'), 403)
    await page.getByLabel('Method').selectOption('GET')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('This call would be forwarded').waitFor()
    assert.equal(await call('GET', '/payments/admin/users'), 200)
    for (const tab of ['Limits and quota', 'Upstream', 'Capture']) {
      await page.getByRole('tab', { name: tab }).click()
      await checkState(visitor, `target-${tab.split(' ')[0]?.toLowerCase() ?? ''}-light`)
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('the live tail shows a call as it happens; a refused one is found by its check, opened, reloaded and shared by its address', async () => {
    await using visitor = await signedIn({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme-gmbh/calls`)
    await page.getByRole('button', { name: 'Live' }).click()
    assert.equal(await call('GET', '/payments/live-from-here'), 200)
    await page.getByText('/live-from-here').waitFor()
    await checkState(visitor, 'calls-dark')
    await page.getByLabel('Refused by', { exact: true }).selectOption('rules')
    await page.getByText('Refused by: Rules').waitFor()
    const row = page.locator('tr[data-row]').filter({ hasText: /DELETE.*\/admin\/users/ })
    await row.focus()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'DELETE /admin/users' })
    await drawer.getByText('Refused: rule_denied').waitFor()
    await checkState(visitor, 'call-dark')
    await page.reload()
    await page.getByRole('dialog', { name: 'DELETE /admin/users' }).waitFor()
    assert.match(page.url(), /stopped_at=rules/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('/live-from-here').waitFor()
    assert.doesNotMatch(page.url(), /stopped_at/)
    assert.deepEqual(visitor.findings, [])
  })

  test('a revoked key is refused, and the page in a second browser says so', async () => {
    await using first = await signedIn()
    await using second = await signedIn({ width: 390 })
    await second.page.goto(`${product.baseUrl}/o/acme-gmbh/keys`)
    await second.page.getByRole('grid').getByText('Active').waitFor()
    await checkState(second, 'keys-narrow')
    const { page } = first
    await page.goto(`${product.baseUrl}/o/acme-gmbh/keys`)
    await page.getByRole('link', { name: 'first-key' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    const dialog = page.getByRole('alertdialog')
    const button = dialog.getByRole('button', { name: 'Revoke key' })
    assert.ok(await button.isDisabled(), 'a key in use asks for its name')
    await dialog.getByLabel('Type first-key to go on').fill('first-key')
    await button.click()
    await page.getByText('Key revoked', { exact: true }).waitFor()
    assert.equal(await call('GET', '/payments/'), 401)
    await second.page.reload()
    await second.page.getByRole('grid').getByText('Revoked').waitFor()
    assert.deepEqual([...first.findings, ...second.findings], [])
  })
})
