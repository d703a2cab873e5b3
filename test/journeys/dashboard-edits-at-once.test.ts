import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/gateway.ts'
import { idpForTests } from '../harness/idp.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { command } from '../harness/sso.ts'

const at = '/organizations/acme'

describe('edits of one thing at once', { timeout: 120_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person
  let visitor: Visitor
  let page: Page

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    const shop = { slug: 'shop', upstream: 'http://127.0.0.1:8099/' }
    assert.equal((await owner.call(`POST ${at}/targets`, shop)).status, 201)
    browser = await browserForTests()
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    const expected = [/412/]
    visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link, expected })
    page = visitor.page
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  const target = async () => (await owner.call(`GET ${at}/targets/shop`)).json
  const refused = async (): Promise<void> =>
    await page.getByText('Somebody else changed this in the meantime').first().waitFor()

  test('limits that somebody else set are not taken back by a form that was filled in before', async () => {
    await page.goto(`${product.baseUrl}/o/acme/targets/shop?tab=limits`)
    const [calls, quota] = ['Calls', 'Quota'].map((name) =>
      page.getByRole('textbox', { name }).first(),
    ) as [Locator, Locator]
    await quota.fill('77')
    const theirs = { calls: 5, per_seconds: 1 }
    await owner.call(`PATCH ${at}/targets/shop`, { rate_limit: theirs })
    // The page reads the target again after each change that is made on this page.
    await page.getByRole('button', { name: 'Disable target' }).click()
    await page.getByRole('button', { name: 'Enable target' }).click()
    await page.getByRole('button', { name: 'Disable target' }).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await refused()
    assert.deepEqual((await target()).rate_limit, theirs)
    // After a reload the form shows the other person's change; a change to another part of the target is no conflict.
    await page.reload()
    assert.equal(await calls.inputValue(), '5')
    await quota.fill('77')
    await page.getByRole('button', { name: 'Disable target' }).click()
    await page.getByRole('button', { name: 'Enable target' }).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Limits saved').waitFor()
    const { rate_limit: rate, quota: own, enabled } = await target()
    assert.deepEqual([rate, own, enabled], [theirs, { calls: 77, period: 'day' }, false])
    assert.deepEqual(visitor.findings, [])
  })

  test('rules that somebody else saved are not replaced by a draft of the rules before', async () => {
    await page.goto(`${product.baseUrl}/o/acme/targets/shop`)
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByLabel('Path', { exact: true }).first().fill('/mine')
    await page.getByRole('button', { name: 'Done' }).click()
    const theirs = { effect: 'deny', methods: [], path: '/theirs', trial: false }
    await owner.call(`PUT ${at}/targets/shop/rules`, { rules: [theirs], otherwise: 'allow' })
    await page.getByRole('button', { name: 'Save rules' }).click()
    await refused()
    const { rules } = await target()
    assert.deepEqual(
      rules.map(({ path }: { path: string }) => path),
      ['/theirs'],
    )
    await page.getByRole('button', { name: 'Discard' }).click()
    assert.deepEqual(visitor.findings, [])
  })

  test('a key is revoked by typing its name, whatever its issuer put into the name', async () => {
    const name = 'night\nshift\u200b'
    const { json } = await owner.call(`POST ${at}/keys`, { name })
    const headers = { 'x-api-key': json.secret }
    await fetch(`${product.baseUrl}/api/v1/intercept/shop/`, { headers })
    const path = `${at}/keys/${json.key.id}`
    await until(async () => (await owner.call(`GET ${path}`)).json.last_used_at !== null)
    await page.goto(`${product.baseUrl}/o/acme/keys/${json.key.id}?do=revoke`)
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('textbox').fill('night shift')
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Key revoked').first().waitFor()
    assert.equal((await owner.call(`GET ${path}`)).json.state, 'revoked')
    assert.deepEqual(visitor.findings, [])
  })

  test('an endpoint that somebody else moved is not moved back, and what was typed is not lost by closing', async () => {
    const [mine, theirs] = ['http://127.0.0.1:8099/a', 'http://127.0.0.1:8099/b']
    const { json } = await owner.call(`POST ${at}/webhooks/endpoints`, { url: mine })
    await page.goto(`${product.baseUrl}/o/acme/webhooks/${json.id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog').first()
    await dialog.getByLabel('Description').fill('billing')
    await owner.call(`PATCH ${at}/webhooks/endpoints/${json.id}`, { url: theirs })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await refused()
    const { url } = (await owner.call(`GET ${at}/webhooks/endpoints/${json.id}`)).json
    assert.equal(url, theirs)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(visitor.findings, [])
  })

  test('roles by groups that somebody typed outlive a change by somebody else, and take nothing back', async () => {
    await using idp = await idpForTests()
    await command(product, 'org set-plan acme enterprise')
    const made: { id: string; name: string }[] = []
    for (const name of ['One', 'Two']) {
      const client = { issuer: idp.issuer, client_id: idp.clientId, client_secret: 'secret' }
      const answer = await owner.call(`POST ${at}/connections`, { name, ...client })
      assert.equal(answer.status, 201, answer.text)
      made.push(answer.json)
    }
    const [one] = made
    await page.goto(`${product.baseUrl}/o/acme/sso?tab=roles`)
    const add = page.getByRole('button', { name: 'Add group' })
    await add.first().click()
    const groups = page.getByRole('textbox', { name: 'Group' })
    await groups.first().fill('platform')
    const path = `${at}/connections/${one?.id}`
    await owner.call(`PATCH ${path}`, { name: 'Renamed' })
    // The page reads the connections again after each change that is made on this page.
    await add.last().click()
    await groups.last().fill('everyone')
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    await page.getByText('Groups saved').first().waitFor()
    await page.getByText('Groups of the sign-in: Renamed').waitFor()
    assert.equal(await groups.first().inputValue(), 'platform')
    // What somebody else has mapped meanwhile is not replaced.
    const theirs = [{ group: 'theirs', role: 'viewer' }]
    await owner.call(`PATCH ${path}`, { group_roles: theirs })
    await page.getByRole('button', { name: 'Save', exact: true }).first().click()
    await refused()
    assert.deepEqual((await owner.call(`GET ${path}`)).json.group_roles, theirs)
    assert.deepEqual(visitor.findings, [])
  })
})
