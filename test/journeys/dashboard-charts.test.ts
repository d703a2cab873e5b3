import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser } from '../harness/browser.ts'
import { checkState, freshDashboard, seeAll, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'

const dayMs = 86_400_000

describe('charts of calls in the dashboard', { timeout: 240_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person
  let upstream: TestUpstream
  let secret: string
  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    upstream = await upstreamForTests((request, response) => {
      response.statusCode = request.url?.includes('broken') === true ? 503 : 200
      response.end('ok')
    })
    const rules = [
      { effect: 'deny', methods: ['DELETE'], path: '/*', trial: false },
      { effect: 'allow', methods: [], path: '/*', trial: false },
    ]
    await owner.call('POST /organizations/acme/targets', { slug: 'pay', upstream: upstream.url })
    const target = await owner.call('GET /organizations/acme/targets/pay')
    const head = { 'if-match': `"${target.json.version}"` }
    await owner.call('PUT /organizations/acme/targets/pay/rules', { rules }, head)
    secret = (await owner.call('POST /organizations/acme/keys', { name: 'night-shift' })).json
      .secret
    product.clock.forward(-dayMs)
    for (const [method, path] of [
      ['GET', '/orders/1'],
      ['DELETE', '/orders/2'],
      ['GET', '/broken'],
    ])
      await call(method ?? '', path ?? '')
    product.clock.forward(dayMs)
    await call('GET', '/today')
    const listed = async () => (await owner.call('GET /organizations/acme/calls')).json.items.length
    for (const until = Date.now() + 15_000; (await listed()) < 4;) assert.ok(Date.now() < until)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  async function call(method: string, path: string): Promise<void> {
    const headers = { 'X-API-Key': secret }
    await (
      await fetch(`${product.baseUrl}/api/v1/intercept/pay${path}`, { method, headers })
    ).text()
  }

  async function visit(look: { colorScheme?: 'light' | 'dark'; width?: number } = {}) {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, ...look })
  }

  test('why a call of yesterday was refused is found in four clicks, and the address keeps each of them', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme`)
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const steps = [
      async () => await page.getByRole('link', { name: 'Calls', exact: true }).click(),
      async () => await page.getByRole('button', { name: '7 d' }).click(),
      async () => void (await page.getByLabel('Outcome').selectOption('refused')),
      async () => await page.getByTitle('/orders/2').click(),
    ]
    for (const step of steps) await step()
    assert.ok(steps.length <= 4)
    const drawer = page.getByRole('dialog')
    await drawer.getByText('Refused: rule_denied').waitFor()
    await drawer.getByRole('link', { name: 'Rule 1 denies DELETE on /*' }).waitFor()
    const address = new URL(page.url()).searchParams
    assert.equal(address.get('range'), '7d')
    assert.equal(address.get('outcome'), 'refused')
    assert.match(address.get('call') ?? '', /^req_/)
    await checkState(visitor, 'calls-yesterday-light')
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByTitle('/orders/1').waitFor()
    await page.goForward()
    await page.getByTitle('/orders/1').waitFor({ state: 'detached' })
    assert.deepEqual(visitor.findings, [])
  })

  test('figures, chart and list follow one range; a row of another day has its date', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls?range=7d`)
    const figures = page.getByRole('region', { name: 'Figures of these calls' })
    await figures.locator('dd').getByText('4', { exact: true }).waitFor()
    assert.deepEqual(
      await figures
        .locator('dd > span:first-child')
        .allTextContents()
        .then((all) => all.slice(0, 3)),
      ['4', '1', '1'],
    )
    const old = page.getByRole('row').filter({ has: page.getByTitle('/broken') })
    assert.match((await old.locator('time').textContent()) ?? '', /^\d\d \w{3}, \d\d:/)
    await old.getByText('Upstream error').waitFor()
    await page.getByRole('button', { name: 'Latency' }).click()
    await figures.getByText('p99', { exact: true }).waitFor()
    await figures.getByRole('button', { name: 'Show as table' }).click()
    await figures.getByRole('columnheader', { name: 'p95' }).waitFor()
    await figures.getByRole('button', { name: 'Show as chart' }).click()
    await checkState(visitor, 'calls-latency-dark')
    assert.deepEqual(visitor.findings, [])
  })

  test('the labels of a time axis stand at round hours, or at midnight without the time', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const labels = page
      .getByRole('slider')
      .locator('text')
      .filter({ hasText: /:|[A-Z]/ })
    for (const [range, look] of [
      ['24h', /^\d\d:00$/],
      ['30d', /^\d\d \w{3}$/],
    ] as const) {
      await page.goto(`${product.baseUrl}/o/acme/calls?range=${range}`)
      await labels.first().waitFor()
      const texts = await labels.allTextContents()
      assert.ok(texts.length >= 4, texts.join())
      for (const text of texts) assert.match(text, look)
    }
  })

  test('a range is chosen in the chart by dragging and by keyboard', async () => {
    await using visitor = await visit({ width: 1360 })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls?range=7d`)
    const chart = page.getByRole('slider')
    const box = await chart.boundingBox()
    assert.ok(box)
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=.*to=/)
    await page.goBack()
    await page.waitForURL(/range=7d/)
    await chart.focus()
    for (const key of ['End', 'Enter', 'ArrowLeft', 'ArrowLeft', 'Enter'])
      await page.keyboard.press(key)
    await page.waitForURL(/from=.*to=/)
    const { searchParams } = new URL(page.url())
    const lasts =
      Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')
    assert.equal(lasts, 3 * 2 * 3_600_000)
    assert.deepEqual(visitor.findings, [])
  })

  test('what is displayed is found: a path under any target, a key by its name, a status', async () => {
    await using visitor = await visit({ width: 390 })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls?range=7d`)
    const search = page.getByRole('searchbox')
    for (const [text, found, gone] of [
      ['/orders', '/orders/1', '/today'],
      ['503', '/broken', '/orders/1'],
      ['NIGHT', '/orders/1', undefined],
    ] as const) {
      await search.fill(text)
      await page.waitForURL((url) => url.searchParams.get('q') === text)
      await page.getByTitle(found).waitFor()
      if (gone !== undefined) await page.getByTitle(gone).waitFor({ state: 'detached' })
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('j and k turn the open call wherever the focus is', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls?range=7d`)
    await page.getByTitle('/today').click()
    const title = page.getByRole('dialog').getByRole('heading').first()
    await title.getByText('GET /today').waitFor()
    await page.keyboard.press('j')
    await title.getByText('GET /broken').waitFor()
    await page.keyboard.press('k')
    await title.getByText('GET /today').waitFor()
    await page.getByRole('button', { name: 'Older call' }).click()
    await title.getByText('GET /broken').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).searchParams.get('call'), null)
    assert.deepEqual(visitor.findings, [])
  })

  test('a view is kept under a name and opened again', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls?range=7d&outcome=refused`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Refused this week')
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.goto(`${product.baseUrl}/o/acme/calls`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Refused this week', exact: true }).click()
    await page.waitForURL(/outcome=refused/)
    assert.match(page.url(), /range=7d/)
    assert.deepEqual(visitor.findings, [])
  })

  test('the overview compares with the period before and leads to the calls behind its figures', async () => {
    await using visitor = await visit({ colorScheme: 'dark', width: 390 })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme?range=7d`)
    const card = page.getByRole('region', { name: 'Calls', exact: true })
    await card.getByText('p95 latency').waitFor()
    await seeAll(page)
    await page.getByRole('link', { name: 'rule_denied' }).waitFor()
    await page.getByRole('link', { name: 'night-shift' }).waitFor()
    await checkState(visitor, 'overview-week-narrow-dark')
    await page.getByRole('link', { name: 'rule_denied' }).click()
    await page.getByTitle('/orders/2').waitFor()
    assert.equal(await page.getByTitle('/orders/1').count(), 0)
    assert.deepEqual(visitor.findings, [])
  })

  test('the lists of the overview come for another range too after a way back to the page', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme?range=7d`)
    await page.getByText('p95 latency').waitFor()
    await seeAll(page)
    const refusal = page.getByRole('link', { name: 'rule_denied' })
    await refusal.click()
    await page.getByTitle('/orders/2').waitFor()
    await page.goBack()
    await refusal.scrollIntoViewIfNeeded()
    await page.getByRole('button', { name: '30 d' }).click()
    await page.waitForURL(/range=30d/)
    await seeAll(page)
    await refusal.waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('on an origin that is not secure the time of a call is copied in UTC, from its drawer and from a tip', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.addInitScript(`Object.defineProperty(window, 'isSecureContext', { value: false })`)
    await page.addInitScript(
      `window.addEventListener('copy', (event) => { window.copiedText = event.clipboardData.getData('text/plain') })`,
    )
    const copied = async (): Promise<string> => String(await page.evaluate('window.copiedText'))
    const { items } = (await owner.call('GET /organizations/acme/calls?q=/today')).json
    await page.goto(`${product.baseUrl}/o/acme/calls?range=7d`)
    await page.getByTitle('/today').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: 'Copy Time' }).click()
    await drawer.getByRole('status').getByText('Copied').waitFor()
    assert.equal(await copied(), items[0].at)
    const { json } = await owner.call('GET /organizations/acme/keys?search=night-shift')
    await page.goto(`${product.baseUrl}/o/acme/keys/${json.items[0].id}`)
    const time = page.getByRole('main').locator('time').first()
    await time.click()
    await page.getByText('Copied', { exact: true }).waitFor()
    assert.equal(await copied(), await time.getAttribute('datetime'))
    assert.deepEqual(visitor.findings, [])
  })

  test('a key shows its use over time, its grants as a matrix and how far its quota is used', async () => {
    const input = {
      name: 'metered',
      quota: { calls: 4, period: 'day' },
      grants: [{ target: 'pay', methods: ['GET', 'POST'] }],
    }
    const issued = (await owner.call('POST /organizations/acme/keys', input)).json
    const headers = { 'X-API-Key': issued.secret as string }
    for (let at = 0; at < 3; at++) {
      const answer = await fetch(`${product.baseUrl}/api/v1/intercept/pay/x`, { headers })
      assert.equal(answer.status, 200, await answer.text())
    }
    const quota = async () => {
      const answer = await owner.call(`GET /organizations/acme/keys/${issued.key.id}/quota`)
      assert.equal(answer.status, 200, answer.text)
      return answer.json.quota
    }
    for (const until = Date.now() + 15_000; (await quota()).used < 3;) assert.ok(Date.now() < until)
    assert.equal((await owner.call('GET /organizations/acme/targets/pay/quota')).json.quota, null)
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/keys/${issued.key.id}`)
    await page.getByText('3 of 4 calls today').waitFor()
    await page.getByRole('meter', { name: 'Quota used' }).waitFor()
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'pay' }) })
    assert.deepEqual(
      await row.getByRole('cell').allTextContents(),
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) =>
        ['GET', 'POST'].includes(method) ? 'granted' : 'not granted',
      ),
    )
    await page.getByRole('slider', { name: /^Latency/ }).waitFor()
    await checkState(visitor, 'key-use-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('the palette finds a key among many by a part of its name, and knows actions', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) =>
        owner.call('POST /organizations/acme/keys', { name: `batch-${at}` }),
      ),
    )
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/calls`)
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Go to a page/ }).fill('SHIFT')
    await page.getByRole('option', { name: /night-shift/ }).waitFor()
    await page.getByRole('combobox', { name: /^Go to a page/ }).fill('revoke night')
    await page.getByRole('option', { name: /Revoke night-shift…/ }).click()
    await page.getByRole('alertdialog', { name: 'Revoke night-shift?' }).waitFor()
    await checkState(visitor, 'palette-revoke-dark')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Go to a page/ }).fill('issue')
    await page.getByRole('option', { name: /Issue key/ }).click()
    await page.waitForURL(/issue=now/)
    assert.deepEqual(visitor.findings, [])
  })
})
