import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/gateway.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'

const at = '/organizations/acme'

describe('rules in the dashboard', { timeout: 120_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let upstream: TestUpstream
  let owner: Person
  let secret: string

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    upstream = await upstreamForTests()
    browser = await browserForTests()
    const target = { slug: 'shop', upstream: upstream.url }
    assert.equal((await owner.call(`POST ${at}/targets`, target)).status, 201)
    secret = (await owner.call(`POST ${at}/keys`, { name: 'caller' })).json.secret
    for (const path of ['/orders', '/orders', '/admin/users']) assert.equal(await pass(path), 200)
    await until(async () => (await owner.call(`GET ${at}/calls`)).json.items.length === 3)
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function pass(path: string): Promise<number> {
    const url = `${product.baseUrl}/api/v1/intercept/shop${path}`
    const answer = await fetch(url, { headers: { 'x-api-key': secret } })
    await answer.arrayBuffer()
    return answer.status
  }

  test('a deny rule says which calls it would refuse, refuses those alone once saved, and the last line can be set', async () => {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    await using visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/targets/shop`)
    await page.getByText('by default: no allow rule is in force').waitFor()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByLabel('Path', { exact: true }).first().fill('/admin/*')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('1 of 3 calls would be refused.').waitFor()
    const listed = page.getByRole('table', {
      name: 'Calls of the last 24 hours that would be refused',
    })
    await listed.getByRole('row', { name: /1 GET \/admin\/users new rule 1/ }).waitFor()
    await checkState(visitor, 'rules-preview-light')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Rules saved').waitFor()
    assert.deepEqual([await pass('/orders'), await pass('/admin/users')], [200, 403])

    // A save before the preview has finished only shows the preview's result; a second one saves the rules.
    await page.getByLabel('Calls that no rule matches').selectOption('refuse')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText(/calls would be refused\./).waitFor()
    assert.equal(await pass('/orders'), 200)
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByRole('button', { name: 'Save rules' }).waitFor({ state: 'detached' })
    assert.equal(await pass('/orders'), 403)
    const { otherwise, otherwise_set: isSet } = (await owner.call(`GET ${at}/targets/shop`)).json
    assert.deepEqual([otherwise, isSet], ['refuse', true])
    assert.deepEqual(visitor.findings, [])
  })

  test('a rule with encoded characters is shown as it was written, and its list can be saved', async () => {
    const path = '/caf%C3%A9%3F/%2A/100%25'
    const rules = [{ effect: 'deny', methods: [], path, trial: false }]
    const target = { slug: 'encoded', upstream: upstream.url, rules }
    assert.equal((await owner.call(`POST ${at}/targets`, target)).status, 201)
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    await using visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/targets/encoded`)
    await page.getByRole('button', { name: 'Edit rule 1' }).click()
    const field = page.getByLabel('Path', { exact: true }).first()
    assert.equal(await field.inputValue(), path)
    await page.getByLabel('Calls that no rule matches').selectOption('allow')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Rules saved').waitFor()
    const saved = (await owner.call(`GET ${at}/targets/encoded`)).json
    assert.deepEqual([saved.rules[0].path, saved.otherwise_set], [path, true])
    assert.deepEqual(visitor.findings, [])
  })
})
