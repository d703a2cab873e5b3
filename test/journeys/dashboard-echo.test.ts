import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/gateway.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const at = '/organizations/acme'

describe('an administrator with the built-in echo', { timeout: 120_000 }, () => {
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
    visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    page = visitor.page
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  const open = async (path: string) => await page.goto(`${product.baseUrl}/o/acme${path}`)

  /** Calls the echo with a new key; returns the call's id once it is recorded. */
  async function callEcho(): Promise<string> {
    const { json } = await owner.call(`POST ${at}/keys`, { name: 'trial', scheme: 'x-api-key' })
    const answer = await fetch(`${product.baseUrl}/api/v1/intercept/echo/pay`, {
      method: 'POST',
      headers: {
        'x-api-key': String(json.secret),
        'x-trace': 'seen-on-the-way',
        'content-type': 'application/json',
      },
      body: '{"card":"4242","amount":5}',
    })
    assert.equal(answer.status, 200, await answer.text())
    const id = answer.headers.get('intercept-request-id') ?? ''
    await until(async () => (await owner.call(`GET ${at}/calls/${id}`)).status === 200)
    return id
  }

  test('one button adds a target that answers what it was asked', async () => {
    await open('/targets')
    await page.getByRole('button', { name: 'Use the built-in echo' }).click()
    await page.waitForURL(/\/targets\/echo$/)
    await page.getByRole('heading', { name: 'echo', level: 1 }).waitFor()
    await callEcho()
    assert.deepEqual(visitor.findings, [])
  })

  test('what the capture setting keeps of a call is shown with it, blacked out where that was asked for', async () => {
    await open('/targets/echo?tab=capture')
    await page.getByLabel('Headers to keep').fill('X-Trace\ncookie')
    await page.getByText('cookie is a credential: it can’t be kept').waitFor()
    await page.getByLabel('Headers to keep').fill('X-Trace')
    await page.getByLabel('Bytes of each body to keep').fill('2000')
    await page.getByLabel('Black out in bodies').fill('card')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Capture saved').waitFor()
    const id = await callEcho()
    await open(`/calls?call=${id}`)
    const asked = page.getByRole('dialog').getByRole('region', { name: 'Request', exact: true })
    await asked.getByText('seen-on-the-way').waitFor()
    await asked.getByText('"card": "…",').waitFor()
    await asked.getByRole('button', { name: 'As sent' }).click()
    await asked.getByText('{"card":"…","amount":5}').waitFor()
    const answered = page.getByRole('dialog').getByRole('region', { name: 'Answer', exact: true })
    await answered.getByText('/pay').first().waitFor()
    await page.getByText('Blacked out as …: card.').waitFor()
    assert.equal(await page.getByText('4242').count(), 0)
    await checkState(visitor, 'call-captured-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('the calls that the filters leave are saved as a file', async () => {
    await open('/calls?method=POST')
    await page.getByText('/pay').first().waitFor()
    for (const [kind, name] of [
      ['As CSV', 'calls-acme.csv'],
      ['As JSON lines', 'calls-acme.ndjson'],
    ] as const) {
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      const saving = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: kind }).click()
      const file = await saving
      assert.equal(file.suggestedFilename(), name)
      const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split(/\r?\n/)
      assert.equal(lines.length, kind === 'As CSV' ? 3 : 2)
      assert.ok(lines.at(-1)?.includes('/pay'))
      await page.getByText('Export written').first().waitFor()
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('defaults of new keys are saved when something changed, and the next key has them', async () => {
    await open('/settings')
    const card = page.locator('section', {
      has: page.getByRole('heading', { name: 'Defaults for new keys' }),
    })
    const save = card.getByRole('button', { name: 'Save' })
    const days = card.getByLabel('Ends after (days)')
    await days.waitFor()
    assert.equal(await save.isEnabled(), false)
    await days.fill('30')
    await card.getByLabel('Allowed addresses').fill('10.0.0.0/8, 192.0.2.7/32')
    await page.route('**/organizations/acme', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    await save.click()
    // What is typed while a form is being saved stays.
    await days.fill('')
    await page.getByText('Defaults for new keys changed').waitFor()
    await until(async () => await save.isEnabled())
    assert.equal(await days.inputValue(), '')
    await days.fill('30')
    await until(async () => !(await save.isEnabled()))
    const { json } = await owner.call(`POST ${at}/keys`, { name: 'by default' })
    assert.deepEqual(json.key.cidrs, ['10.0.0.0/8', '192.0.2.7/32'])
    assert.ok(Math.abs(Date.parse(json.key.expires_at) - Date.now() - 30 * 86_400_000) < 3_600_000)
    assert.deepEqual(visitor.findings, [])
  })
})
