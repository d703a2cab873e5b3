import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, checkWithout, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/gateway.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { upstreamForTests } from '../harness/upstream.ts'

describe('API keys in the dashboard', () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(
    more: { colorScheme?: 'light' | 'dark'; width?: number } = {},
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, ...more })
  }

  test('a key is issued with the keyboard alone, and Escape, a click outside and leaving cannot lose its secret', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/keys`)
    await page.getByText('No keys yet').waitFor()
    await checkState(visitor, 'keys-empty-light')
    const issue = page.getByRole('button', { name: 'Issue key' }).first()
    await issue.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Issue a key' }).waitFor()
    await page.keyboard.type('checkout-worker')
    await checkState(visitor, 'keys-issue-light')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Copy the key now' })
    await dialog.waitFor()
    const secret = (await dialog.locator('[data-secret]').textContent()) ?? ''
    assert.match(secret, /^svc_live_[A-Za-z0-9]+_[A-Za-z0-9]{49}$/)
    await checkState(visitor, 'keys-secret-light')
    await page.keyboard.press('Escape')
    assert.ok(await dialog.isVisible(), 'Escape is held')
    await page.mouse.click(5, 5)
    assert.ok(await dialog.isVisible(), 'a click outside is held')
    await dialog.getByText('Copy it first').waitFor()
    await page.getByRole('button', { name: 'Copy key' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'checkout-worker' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Issue key')
    await assertForgotten(page, secret)
    assert.deepEqual(visitor.findings, [])
  })

  test('a secret is copied on an origin that is not secure, from inside the dialog', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.addInitScript(`Object.defineProperty(window, 'isSecureContext', { value: false })`)
    await page.addInitScript(
      `document.addEventListener('copy', () => { window.copiedText = String(getSelection()) })`,
    )
    await page.goto(`${product.baseUrl}/o/acme/keys?issue=now`)
    await page.getByLabel('Name', { exact: true }).fill('insecure-copy')
    await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy the key now' })
    const secret = await dialog.locator('[data-secret]').textContent()
    await dialog.getByRole('button', { name: 'Copy key' }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(await page.evaluate('window.copiedText'), secret)
    assert.deepEqual(visitor.findings, [])
  })

  test('rotating shows the new secret once; the old one is seen and ended early', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    const issued = await owner.call('POST /organizations/acme/keys', { name: 'nightly-export' })
    const { key, secret: old } = issued.json
    const echo = { slug: 'echo', upstream: 'http://echo.intercept.internal/' }
    assert.equal((await owner.call('POST /organizations/acme/targets', echo)).status, 201)
    const who = `${product.baseUrl}/api/v1/intercept/echo/`
    const used = async (): Promise<number> => {
      const { json } = await owner.call(`GET /organizations/acme/keys/${key.id}`)
      return json.secrets.filter((one: { last_used_at: unknown }) => one.last_used_at).length
    }
    await page.goto(`${product.baseUrl}/o/acme/keys/${key.id}`)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page
      .getByRole('dialog', { name: 'Rotate nightly-export' })
      .getByRole('button', { name: 'Rotate' })
      .click()
    const dialog = page.getByRole('dialog', { name: 'Copy the new secret now' })
    const secret = (await dialog.locator('[data-secret]').textContent()) ?? ''
    // A call with the old secret is no proof that the new one works.
    await fetch(who, { headers: { 'x-api-key': old } })
    await until(async () => (await used()) === 1)
    await dialog.getByText('Waiting for the first call with the new secret').waitFor()
    await fetch(who, { headers: { 'x-api-key': secret } })
    await dialog.getByText('The new secret is in use').waitFor()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('Who still uses the old secret').waitFor()
    await checkState(visitor, 'key-rotated-dark')
    await page.getByRole('button', { name: 'End the old secret' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'End the old secret' }).click()
    await page.getByText('The old secret has ended').waitFor()
    await page.getByText('Who still uses the old secret').waitFor({ state: 'detached' })
    assert.deepEqual(visitor.findings, [])
  })

  test('revoking asks once, says how many nodes refuse the key and after how long, and the row changes', async () => {
    await using visitor = await visit({ width: 390 })
    const { page } = visitor
    const key = (await owner.call('POST /organizations/acme/keys', { name: 'leaked' })).json.key
    await page.goto(`${product.baseUrl}/o/acme/keys/${key.id}`)
    await page.getByRole('button', { name: 'Revoke key' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Revoke leaked?' })
    await dialog.waitFor()
    await checkState(visitor, 'key-revoke-narrow')
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText(/Refused everywhere within (?:< 1|\d+) ms/).waitFor()
    await page.getByText('It can’t be used again').waitFor()
    const after = await owner.call(`GET /organizations/acme/keys/${key.id}`)
    assert.equal(after.json.state, 'revoked')
    assert.deepEqual(visitor.findings, [])
  })

  test('labels are typed in the form, shown as chips, filtered by, and set on many keys at once', async () => {
    await using visitor = await visit()
    const { page } = visitor
    for (const [name, labels] of [
      ['labelled one', { team: 'payments', env: 'prod', cost_center: '4711' }],
      ['labelled two', { team: 'search' }],
      ['labelled not', undefined],
    ] as const) {
      await owner.call('POST /organizations/acme/keys', { name, labels })
    }
    await page.goto(`${product.baseUrl}/o/acme/keys?q=labelled`)
    await page
      .getByRole('row', { name: /labelled one/ })
      .getByText('+2')
      .waitFor()
    await checkState(visitor, 'keys-labels-light')
    await checkWithout(visitor, 'the list of labelled keys')
    await page.getByRole('link', { name: 'team: search' }).click()
    await page.waitForURL(/\/keys\?label=team%3Asearch$/)
    await page.getByRole('row', { name: /labelled one/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove filter Label: team:search' }).click()

    const filter = page.getByLabel('Filter by label')
    await filter.fill('Team')
    await filter.press('Enter')
    await page.getByText('A label looks like env:prod.').waitFor()
    for (const label of ['team', 'env = prod']) {
      await filter.fill(label)
      await filter.press('Enter')
      const chip = `Remove filter Label: ${label.replace(' = ', ':')}`
      await page.getByRole('button', { name: chip }).waitFor()
    }
    await page.waitForURL(/label=team%0Aenv%3Aprod/)
    await page.getByRole('row', { name: /labelled two/ }).waitFor({ state: 'detached' })
    await page.goBack()
    await page.goto(`${product.baseUrl}/o/acme/keys?q=labelled`)
    for (const name of ['labelled one', 'labelled not']) {
      await page.getByLabel(`Select ${name}`).check()
    }
    const chosen = page.getByRole('group', { name: 'Selected keys' })
    await chosen.getByRole('button', { name: 'Label…' }).click()
    const bulk = page.getByRole('dialog', { name: 'Label 2 keys' })
    await bulk.getByLabel('Set labels').fill('env=test\nenv=x')
    await bulk.getByRole('button', { name: 'Save' }).click()
    await bulk.getByText('env is there twice.').waitFor()
    await bulk.getByLabel('Set labels').fill('env=test\nowner=ada')
    await bulk.getByLabel('Remove labels').fill('cost_center')
    await checkState(visitor, 'keys-label-many-light')
    await bulk.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Done with 2 of 2 keys').waitFor()
    const { json } = await owner.call('GET /organizations/acme/keys?search=labelled')
    const keys = json.items as { id: string; name: string; labels: object | null }[]
    assert.deepEqual(Object.fromEntries(keys.map(({ name, labels }) => [name, labels])), {
      'labelled one': { env: 'test', owner: 'ada', team: 'payments' },
      'labelled two': { team: 'search' },
      'labelled not': { env: 'test', owner: 'ada' },
    })

    const one = keys.find(({ name }) => name === 'labelled one')
    await page.goto(`${product.baseUrl}/o/acme/keys/${String(one?.id)}`)
    await page.getByRole('link', { name: 'team: payments' }).waitFor()
    await page.getByRole('button', { name: 'Edit key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit labelled one' })
    const field = dialog.getByLabel('Labels')
    assert.equal(await field.inputValue(), 'env=test\nowner=ada\nteam=payments')
    await field.fill('env')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('“env” has no “=”').waitFor()
    await field.fill('env = prod')
    await checkState(visitor, 'key-labels-edit-light')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'env: prod' }).waitFor()
    await page.getByRole('link', { name: 'team: payments' }).waitFor({ state: 'detached' })
    await checkWithout(visitor, 'the page of a labelled key')
    assert.deepEqual(visitor.findings, [])
  })

  test('a key is edited in place: what is not touched stays, its end and its limit’s period and burst too', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const input = {
      name: 'before',
      cidrs: ['203.0.113.0/24'],
      rate_limit: { calls: 10, per_seconds: 60, burst: 5 },
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    }
    const { key } = (await owner.call('POST /organizations/acme/keys', input)).json
    await page.goto(`${product.baseUrl}/o/acme/keys/${key.id}`)
    await page.getByRole('button', { name: 'Edit key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit before' })
    await dialog.getByLabel('Name', { exact: true }).fill('edited')
    await dialog.getByLabel('Limit').fill('20')
    await checkState(visitor, 'key-edit-light')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'edited' }).waitFor()
    const now = (await owner.call(`GET /organizations/acme/keys/${key.id}`)).json
    assert.deepEqual(
      [now.name, now.cidrs, now.rate_limit, now.expires_at, now.grants],
      ['edited', input.cidrs, { calls: 20, per_seconds: 60, burst: 5 }, key.expires_at, null],
    )
    assert.deepEqual(visitor.findings, [])
  })

  for (const [look, mine, theirs] of [
    ['narrow-dark', { colorScheme: 'light' }, { colorScheme: 'dark', width: 390 }],
    ['light', { colorScheme: 'dark', width: 390 }, { colorScheme: 'light' }],
  ] as const) {
    const slug = `events-${look}`
    const name = `streaming-${look}`
    test(`a revocation in one browser cuts an open event stream, and the row changes in another browser within 2 s (${look})`, async () => {
      await using upstream = await upstreamForTests((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: first\n\n')
      })
      const target = { slug, upstream: upstream.url }
      assert.equal((await owner.call('POST /organizations/acme/targets', target)).status, 201)
      await owner.call(`PATCH /organizations/acme/targets/${slug}`, {
        rules: [{ effect: 'allow', methods: [], path: '/*', trial: false }],
      })
      const issued = (await owner.call('POST /organizations/acme/keys', { name })).json
      const headers = { 'X-API-Key': issued.secret }
      const stream = await fetch(`${product.baseUrl}/api/v1/intercept/${slug}/x`, { headers })
      assert.equal(stream.status, 200)
      const cut = assert.rejects(stream.text(), 'a stream that is cut is no complete answer')

      await using here = await visit(mine)
      await using there = await visit(theirs)
      await there.page.goto(`${product.baseUrl}/o/acme/keys`)
      const row = there.page.locator('tr[data-row]', { hasText: name })
      await row.getByText('Active').waitFor()
      await here.page.goto(`${product.baseUrl}/o/acme/keys/${issued.key.id}`)
      await here.page.getByRole('button', { name: 'Revoke key' }).click()
      const dialog = here.page.getByRole('alertdialog', { name: `Revoke ${name}?` })
      const typed = dialog.getByRole('textbox')
      if (await typed.isVisible()) await typed.fill(name)
      await dialog.getByRole('button', { name: 'Revoke key' }).click()
      await here.page.getByText(/Refused everywhere within (?:< 1|\d+) ms/).waitFor()
      await row.getByText('Revoked').waitFor({ timeout: 2000 })
      await cut
      await checkState(there, `keys-revoked-elsewhere-${look}`)
      assert.deepEqual([...here.findings, ...there.findings], [])
    })
  }
})

/** Checks that the secret is nowhere any more: not in the page, in storage, or in the URL. */
async function assertForgotten(page: Page, secret: string): Promise<void> {
  const everything = await page.evaluate(
    `document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href`,
  )
  assert.ok(!String(everything).includes(secret), 'the secret is still somewhere')
}
