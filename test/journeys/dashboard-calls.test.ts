import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'

const manyCalls = 10_000

describe('calls in the dashboard', { timeout: 120_000 }, () => {
  const secrets = new Map<string, string>()
  let product: TestProduct
  let browser: TestBrowser
  let upstream: TestUpstream
  let owner: Person

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    upstream = await upstreamForTests()
    browser = await browserForTests()
    const rules = [
      { effect: 'deny', methods: ['DELETE'], path: '/admin/*', trial: false },
      { effect: 'deny', methods: [], path: '/refunds/*', trial: true },
      { effect: 'allow', methods: [], path: '/*', trial: false },
    ]
    for (const slug of ['payments', 'ledger']) {
      const target = { slug, upstream: upstream.url, rules }
      assert.equal((await owner.call('POST /organizations/acme/targets', target)).status, 201)
    }
    for (const [name, more] of [
      ['anything', {}],
      ['ledger-only', { grants: [{ target: 'ledger', methods: ['GET'] }] }],
      ['office', { cidrs: ['10.2.0.0/16'] }],
      ['hasty', { rate_limit: { calls: 1, per_seconds: 86_400 } }],
    ] as const) {
      const made = await owner.call('POST /organizations/acme/keys', { name, ...more })
      assert.equal(made.status, 201, made.text)
      secrets.set(name, String(made.json.secret))
    }
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(
    more: { colorScheme?: 'light' | 'dark'; width?: number; expected?: readonly RegExp[] } = {},
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, ...more })
  }
  async function call(key: string, method: string, path: string) {
    const answer = await fetch(`${product.baseUrl}/api/v1/intercept/payments${path}`, {
      method,
      headers: { 'X-API-Key': secrets.get(key) ?? '' },
    })
    const text = await answer.text()
    const code = answer.status === 200 ? undefined : (JSON.parse(text) as { code: string }).code
    return { status: answer.status, code }
  }

  test('trying a request says what the real call gets: allowed, denied, not granted, wrong address, limit used up, ambiguous path', async () => {
    await using visitor = await visit({ colorScheme: 'dark', width: 390 })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/targets/payments`)
    await page.getByRole('heading', { name: 'Try a request' }).waitFor()
    assert.equal((await call('hasty', 'GET', '/once')).status, 200)
    for (const [key, method, path, status] of [
      ['anything', 'GET', '/v1/charges', 200],
      ['anything', 'DELETE', '/admin/users', 403],
      ['ledger-only', 'GET', '/v1/charges', 404],
      ['office', 'GET', '/v1/charges', 403],
      ['hasty', 'GET', '/v1/charges', 429],
      ['anything', 'GET', '/v1//charges', 400],
    ] as const) {
      const said = `${key} ${method} ${path}`
      await tryWithKeys(page, key, method, path)
      const real = await call(key, method, path)
      assert.equal(real.status, status, said)
      const answer = page.getByRole('status').filter({ has: page.getByRole('heading') })
      const expected =
        real.code === undefined
          ? 'This call would be forwarded'
          : `The caller gets ${status} ${real.code}.`
      await answer.getByText(expected).waitFor()
    }
    await checkState(visitor, 'try-ambiguous-narrow-dark')
    assert.deepEqual(visitor.findings, [])
  })

  test('a rule on trial says that it would refuse, is counted, and lets the call through', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/targets/payments`)
    await tryWithKeys(page, 'anything', 'GET', '/refunds/7')
    await page.getByText('This call would be forwarded').waitFor()
    await page.getByText('A rule on trial would refuse it.').waitFor()
    assert.equal((await call('anything', 'GET', '/refunds/7')).status, 200)
    const counted = async (): Promise<boolean> => {
      const { json } = await owner.call('GET /organizations/acme/targets/payments')
      return json.rules.some((rule: { trial: boolean; calls: number }) => rule.trial && rule.calls)
    }
    for (const until = Date.now() + 15_000; !(await counted());) {
      assert.ok(Date.now() < until, 'the trial is counted')
    }
    await page.reload()
    const rule = page.getByRole('group', { name: /^2: deny.*refunds/ })
    await rule.getByText(/^1 call/).waitFor()
    await checkState(visitor, 'try-trial-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('the live tail waits while a row has the focus and says how many are new', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls`)
    await page.getByRole('button', { name: 'Live' }).focus()
    await page.keyboard.press('Enter')
    await call('anything', 'GET', '/before-the-focus')
    await page.getByText('/before-the-focus').waitFor()
    await page.locator('tr[data-row]').first().focus()
    await page.keyboard.press('j')
    await call('anything', 'GET', '/while-somebody-looks')
    const waiting = page.getByRole('button', { name: 'Show 1 new call' })
    await waiting.waitFor()
    assert.equal(await page.getByText('/while-somebody-looks').count(), 0)
    await checkState(visitor, 'calls-waiting-dark')
    await waiting.focus()
    await page.keyboard.press('Enter')
    await page.getByText('/while-somebody-looks').waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Live')
    assert.deepEqual(visitor.findings, [])
  })

  test('calls that the live tail held back come before newer ones once nobody looks any more', async () => {
    await using visitor = await visit({})
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls`)
    await page.getByRole('button', { name: 'Live' }).click()
    await page.locator('tr[data-row]').first().focus()
    await call('anything', 'GET', '/held-back')
    await page.getByRole('button', { name: 'Show 1 new call' }).waitFor()
    await page.getByRole('button', { name: 'Live' }).focus()
    await call('anything', 'GET', '/newer')
    await page.getByText('/newer').waitFor()
    await page.getByText('/held-back').waitFor()
    const shown = await page.locator('tr[data-row]').allTextContents()
    const rowOf = (path: string): number => shown.findIndex((text) => text.includes(path))
    assert.ok(rowOf('/newer') < rowOf('/held-back'), shown.slice(0, 3).join('\n'))
    assert.equal(await page.getByRole('button', { name: /new call/ }).count(), 0)
    assert.deepEqual(visitor.findings, [])
  })

  test('a call whose caller left before the response says so, and names no status of the upstream', async () => {
    await call('anything', 'GET', '/left')
    await using visitor = await visit({})
    const { page } = visitor
    const left = { status: 0, code: null, stopped_at: null, upstream_ms: null }
    await page.route(/\/organizations\/acme\/calls/, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { items?: object[] }
      const { items } = answer
      const json = items
        ? { ...answer, items: items.map((item) => ({ ...item, ...left })) }
        : { ...answer, ...left }
      await route.fulfill({ json })
    })
    await page.goto(`${product.baseUrl}/o/acme/calls`)
    await page.locator('tr[data-row]').first().focus()
    await page.keyboard.press('Enter')
    await page.getByText('The caller left before there was a response.').waitFor()
    assert.equal(await page.getByText('The upstream answered').count(), 0)
    assert.deepEqual(visitor.findings, [])
  })

  test('10,000 rows scroll to their end with only some of them in the page', async () => {
    await using visitor = await visit({ width: 390 })
    const { page } = visitor
    await page.route(/\/organizations\/acme\/calls\?/, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { items: { id: string }[]; next: string | null }
      const [first] = answer.items
      assert.ok(first)
      const items = Array.from({ length: manyCalls }, (_, index) => ({
        ...first,
        id: `${first.id.slice(0, -5)}${String(index).padStart(5, '0')}`,
        path: `/row/${index}`,
      }))
      await route.fulfill({ json: { ...answer, items, next: null } })
    })
    await page.goto(`${product.baseUrl}/o/acme/calls`)
    await page.getByTitle('/row/0', { exact: true }).waitFor()
    // Wait for a spacer row of the virtual list: until that list has loaded, all rows are rendered.
    await page.locator('tbody tr[aria-hidden]').first().waitFor({ state: 'attached' })
    const shown = await page.locator('tr[data-row]').count()
    assert.ok(shown < 200, `${shown} rows are in the page`)
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByTitle(`/row/${manyCalls - 1}`, { exact: true }).waitFor()
    assert.ok((await page.locator('tr[data-row]').count()) < 200)
    assert.deepEqual(visitor.findings, [])
  })
})

/** Fills in the form and submits it without a mouse. */
async function tryWithKeys(page: Page, key: string, method: string, path: string): Promise<void> {
  const field = page.getByLabel('Key', { exact: true })
  // Wait until the newest key is in the field: if it came later, it would replace what is typed here.
  while (['', 'No key'].includes(await field.inputValue())) await page.waitForTimeout(20)
  await field.focus()
  await page.keyboard.type(key)
  await page.keyboard.press('Tab')
  await page.keyboard.type(method)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Control+a')
  await page.keyboard.type(path)
  await page.keyboard.press('Enter')
}
