import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/gateway.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

describe('habits of the dashboard', { timeout: 240_000 }, () => {
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
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    const expected = [/status of (?:404|500)/]
    visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link, expected })
    page = visitor.page
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  const open = async (path: string) => await page.goto(`${product.baseUrl}/o/acme${path}`)
  const question = () => page.getByRole('alertdialog', { name: 'Leave without saving?' })

  test('leaving a page with an edited form asks, keeps what was typed, and does not ask again once it is saved', async () => {
    await open('/settings')
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Acme Incorporated')
    await page.getByRole('link', { name: 'Calls', exact: true }).click()
    await question().waitFor()
    await checkState(visitor, 'leaving-light')
    await question().getByRole('button', { name: 'Keep editing' }).click()
    assert.equal(await name.inputValue(), 'Acme Incorporated')
    await page.locator('form', { has: name }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name changed').waitFor()
    await page.getByRole('link', { name: 'Calls', exact: true }).click()
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('a dialog with something typed in it asks before Esc or the back button throws it away', async () => {
    await open('/keys')
    await page.getByRole('button', { name: 'Issue key' }).first().click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('half a key')
    await page.keyboard.press('Escape')
    await question().getByRole('button', { name: 'Keep editing' }).click()
    const name = page.getByRole('dialog').getByLabel('Name', { exact: true })
    assert.equal(await name.inputValue(), 'half a key')
    // A dialog covers the page, but the browser's history and links can still lead away from it.
    await page.locator('nav a', { hasText: 'Targets' }).dispatchEvent('click')
    await question().getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('heading', { name: 'Targets', level: 1 }).waitFor()
    // If nothing was typed, leaving needs no confirmation.
    await open('/keys?issue=now')
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(visitor.findings, [])
  })

  test('wrong input is told in words below its field, which gets the focus; the browser shows no bubble', async () => {
    await open('/members?tab=invitations')
    await page.getByRole('button', { name: 'Invite' }).first().click()
    const email = page.getByRole('dialog').getByLabel('E-mail')
    await email.fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    await page.getByText('This is no e-mail address. It looks like name@example.com.').waitFor()
    const focused = await page.evaluate('document.activeElement.id')
    assert.equal(await email.getAttribute('id'), focused)
    assert.equal(await email.getAttribute('aria-invalid'), 'true')
    await email.fill('nobody@')
    await page.getByText('This is no e-mail address.').waitFor({ state: 'detached' })
    assert.deepEqual(visitor.findings, [])
  })

  test('an address with nothing behind it is a page of the product, with its navigation and a way on', async () => {
    await open('/nothing')
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
    await page.getByText('/o/acme/nothing').waitFor()
    await page.getByRole('navigation').first().waitFor()
    await checkState(visitor, 'nothing-light')
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('while answers are errors the page says so, and goes on by itself when they are none any more', async () => {
    const failing = /\/organizations\/acme\/targets(?:\?|$)/
    await page.route(failing, async (route) => await route.fulfill({ status: 500, body: '' }))
    await open('/targets')
    const banner = page.getByText('Intercept answers some requests with errors. Trying again…')
    await banner.waitFor()
    await page.unroute(failing)
    await banner.waitFor({ state: 'detached', timeout: 15_000 })
    await page.getByText('Add the API').first().waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('the audit log says in sentences with names what was done, finds text, and leads to the thing', async () => {
    const { json } = await owner.call('POST /organizations/acme/keys', { name: 'night shift' })
    await owner.call(`POST /organizations/acme/keys/${json.key.id}/revoke`)
    await open('/audit')
    await page.getByText('Revoked the key night shift').waitFor()
    await page.getByRole('searchbox').fill('night')
    await page.getByText('Changed the organization').waitFor({ state: 'detached' })
    await page.getByText('Renamed the organization').waitFor({ state: 'detached' })
    await page.getByLabel('Who').selectOption({ label: 'Olga Owner' })
    await page.getByRole('row', { name: /Revoked the key night shift/ }).click()
    await checkState(visitor, 'audit-sentence-light')
    await page.getByRole('dialog').getByRole('link', { name: 'Open', exact: true }).click()
    await page.getByRole('heading', { name: 'night shift', level: 1 }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('several keys are chosen, extended and revoked at once, and the other stays', async () => {
    const names = ['bulk one', 'bulk two', 'bulk stays']
    for (const name of names) await owner.call('POST /organizations/acme/keys', { name })
    await open('/keys?q=bulk')
    for (const name of names.slice(0, 2)) await page.getByLabel(`Select ${name}`).check()
    const chosen = page.getByRole('group', { name: 'Selected keys' })
    await chosen.getByText('2 keys selected').waitFor()
    await checkState(visitor, 'keys-chosen-light')
    // A key that a filter hides is no longer selected, not even when the filter is gone.
    await page.getByRole('searchbox').fill('bulk one')
    await chosen.getByText('1 key selected').waitFor()
    await page.getByRole('searchbox').fill('bulk')
    await page.getByLabel('Select bulk stays').waitFor()
    assert.deepEqual(
      await Promise.all(
        names.map(async (name) => await page.getByLabel(`Select ${name}`).isChecked()),
      ),
      [true, false, false],
    )
    await page.getByLabel('Select bulk two').check()
    await chosen.getByText('2 keys selected').waitFor()
    await chosen.getByRole('button', { name: 'Extend…' }).click()
    await page.getByLabel('Ends after').selectOption('365')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Done with 2 of 2 keys').waitFor()
    for (const name of names.slice(0, 2)) await page.getByLabel(`Select ${name}`).check()
    await chosen.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByRole('button', { name: 'Revoke 2 keys' }).click()
    await page.getByRole('row', { name: /bulk one.*Revoked/ }).waitFor()
    const { json } = await owner.call('GET /organizations/acme/keys?search=bulk')
    const keys = json.items as { name: string; state: string; expires_at: string | null }[]
    assert.deepEqual(Object.fromEntries(keys.map(({ name, state }) => [name, state])), {
      'bulk one': 'revoked',
      'bulk two': 'revoked',
      'bulk stays': 'active',
    })
    const end = Date.parse(keys.find(({ name }) => name === 'bulk one')?.expires_at ?? '')
    assert.ok(Math.abs(end - Date.now() - 365 * 86_400_000) < 3_600_000)
    assert.deepEqual(visitor.findings, [])
  })

  test('the dashboard speaks German where somebody or the browser asks for it', async () => {
    await page.goto(`${product.baseUrl}/you`)
    await page.getByRole('button', { name: 'Deutsch' }).click()
    await page.getByRole('heading', { name: 'Anmeldewege' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'de')
    await open('/calls')
    await page.getByRole('heading', { name: 'Aufrufe', level: 1 }).waitFor()
    await checkState(visitor, 'calls-german-light')
    await page.goto(`${product.baseUrl}/you`)
    await page.getByRole('button', { name: 'Wie der Browser' }).click()
    await page.getByRole('heading', { name: 'Ways to sign in' }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('what people come for is a few clicks away, and why a call was refused at most four', async () => {
    const { json } = await owner.call('POST /organizations/acme/keys', { name: 'clicked key' })
    const target = { slug: 'clicked', upstream: 'http://echo.intercept.internal/' }
    await owner.call('POST /organizations/acme/targets', target)
    const rules = [{ effect: 'deny', methods: ['DELETE'], path: '/*', trial: false }]
    const ruled = await owner.call('PUT /organizations/acme/targets/clicked/rules', { rules })
    assert.equal(ruled.status, 200, JSON.stringify(ruled.json))
    const gone = `${product.baseUrl}/api/v1/intercept/clicked/orders`
    const headers = { 'x-api-key': String(json.secret) }
    assert.equal((await fetch(gone, { method: 'DELETE', headers })).status, 403)
    await until(async () => {
      const calls = await owner.call('GET /organizations/acme/calls?outcome=refused')
      return (calls.json.items as unknown[]).length > 0
    })
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const row = (name: RegExp) => page.getByRole('row', { name }).first()
    const journeys: Readonly<Record<string, readonly [most: number, steps: readonly Locator[]]>> = {
      'why a call was refused': [4, [link('Calls'), row(/403.*DELETE/)]],
      'what a refusal means': [
        4,
        [link('Calls'), row(/403.*DELETE/), page.getByRole('dialog').getByText('rule_denied')],
      ],
      'calls of one key': [
        4,
        [link('API keys'), row(/clicked key/), link('Show all calls of this key')],
      ],
      'where a key is used': [2, [link('API keys'), row(/clicked key/)]],
      'issue a key': [2, [link('API keys'), button('Issue key')]],
      'rotate a key': [3, [link('API keys'), row(/clicked key/), button('Rotate')]],
      'revoke a key': [3, [link('API keys'), row(/clicked key/), button('Revoke key')]],
      'who changed a key': [
        3,
        [link('API keys'), row(/clicked key/), link('Show in the audit log')],
      ],
      'add a target': [2, [link('Targets'), button('Add target')]],
      'add a rule': [3, [link('Targets'), row(/clicked/), button('Add rule')]],
      'health of an upstream': [
        3,
        [link('Targets'), row(/clicked/), page.getByRole('tab', { name: 'Traffic' })],
      ],
      'add an endpoint': [2, [link('Webhooks'), button('Add endpoint').first()]],
      'every delivery': [2, [link('Webhooks'), link('Deliveries')]],
      'invite somebody': [2, [link('Members'), button('Invite').first()]],
      'sign out': [2, [button('Olga Owner'), page.getByRole('menuitem', { name: 'Sign out' })]],
    }
    const counted: Record<string, number> = {}
    for (const [name, [most, steps]] of Object.entries(journeys)) {
      await open('')
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      for (const [index, step] of steps.entries()) {
        // Actions that end the session or leave the page are only looked for, not carried out.
        const isEnd = index === steps.length - 1 && /sign out|means/.test(name)
        if (isEnd) await step.first().waitFor()
        else await step.click()
      }
      counted[name] = steps.length
      assert.ok(steps.length <= most, name)
    }
    console.log(JSON.stringify(counted))
    assert.deepEqual(visitor.findings, [])
  })

  test('Undo puts back what a form has saved, and the form shows what holds', async () => {
    const target = { slug: 'undone', upstream: 'http://echo.intercept.internal/' }
    assert.equal((await owner.call('POST /organizations/acme/targets', target)).status, 201)
    const undo = async () => await page.getByRole('button', { name: 'Undo' }).first().click()
    await open('/settings')
    const name = page.getByLabel('Name', { exact: true })
    const before = await name.inputValue()
    await name.fill('Renamed by mistake')
    await page.locator('form', { has: name }).getByRole('button', { name: 'Save' }).click()
    await undo()
    await page.getByText('Undone', { exact: true }).waitFor()
    assert.equal(await name.inputValue(), before)
    await open('/targets/undone?tab=limits')
    const limit = page.getByLabel('Calls', { exact: true })
    await limit.fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await undo()
    await page.getByText('Undone', { exact: true }).waitFor()
    assert.equal(await limit.inputValue(), '')
    const { json } = await owner.call('GET /organizations/acme/targets/undone')
    assert.equal(json.rate_limit ?? undefined, undefined)
    assert.deepEqual(visitor.findings, [])
  })

  test("the limits of a target are saved with the rate's burst, which no field shows", async () => {
    const rate = { calls: 10, per_seconds: 60, burst: 3 }
    const target = { slug: 'bursty', upstream: 'http://echo.intercept.internal/' }
    assert.equal((await owner.call('POST /organizations/acme/targets', target)).status, 201)
    const path = '/organizations/acme/targets/bursty'
    assert.equal((await owner.call(`PATCH ${path}`, { rate_limit: rate })).status, 200)
    await open('/targets/bursty?tab=limits')
    await page.getByLabel('Calls', { exact: true }).fill('20')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Undo' }).first().waitFor()
    const { json } = await owner.call(`GET ${path}`)
    assert.deepEqual(json.rate_limit, { ...rate, calls: 20 })
    assert.deepEqual(visitor.findings, [])
  })
})
