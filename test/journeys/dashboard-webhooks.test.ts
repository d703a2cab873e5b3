import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Webhook as Standard } from 'standardwebhooks'
import { organizations, openStore } from '../../src/store/index.ts'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { startReceiver, type Receiver } from '../harness/receiver.ts'
import { command } from '../harness/sso.ts'

const minuteMs = 60_000

describe('webhooks in the dashboard', { timeout: 240_000 }, () => {
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person
  let receiver: Receiver

  before(async () => {
    freshDashboard()
    product = await productForTests()
    owner = await firstOwner(product)
    browser = await browserForTests()
    receiver = await startReceiver()
  })
  after(async () => {
    await receiver[Symbol.asyncDispose]()
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(
    more: { colorScheme?: 'light' | 'dark'; width?: number; expected?: readonly RegExp[] } = {},
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, ...more })
  }
  async function endpointFor(path: string): Promise<string> {
    const body = { url: receiver.url + path, description: path.slice(1) }
    const made = await owner.call('POST /organizations/acme/webhooks/endpoints', body)
    assert.equal(made.status, 201)
    return made.json.id as string
  }
  const atPath = (path: string) => receiver.arrivals.filter((one) => one.path === path)

  test('an endpoint is added, pinged, and its delivery shows bytes, attempt and answer', async () => {
    await using visitor = await visit()
    const { page } = visitor
    receiver.answer = (response) => response.writeHead(200).end('thank you')
    await page.goto(`${product.baseUrl}/o/acme/webhooks`)
    await page.getByText('No endpoints yet').waitFor()
    await checkState(visitor, 'webhooks-empty-light')
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add an endpoint' })
    await form.getByLabel('Address').fill(`${receiver.url}/first`)
    await form.getByLabel('Description').fill('Billing')
    await form.getByText('Headers, rate, order').click()
    await form.getByLabel('Own headers').fill('X-Team: billing')
    await checkState(visitor, 'webhooks-add-light')
    await form.getByRole('button', { name: 'Add endpoint' }).click()
    await page.getByRole('heading', { name: 'Billing' }).waitFor()
    await page.getByRole('button', { name: 'Send ping' }).click()
    await page.getByRole('row', { name: /webhook\.ping.*Delivered/ }).click()
    const drawer = page.getByRole('dialog', { name: 'webhook.ping' })
    await drawer.getByText('Attempt 1').waitFor()
    await drawer.getByText('Answer', { exact: true }).click()
    await drawer.getByText('thank you').waitFor()
    await checkState(visitor, 'webhooks-delivery-light')
    const [arrival] = atPath('/first')
    const body = drawer.getByRole('group', { name: 'Body', exact: true })
    const sent = arrival?.body.toString() ?? ''
    assert.equal(await body.textContent(), JSON.stringify(JSON.parse(sent), null, 2))
    await drawer.getByRole('button', { name: 'As sent' }).first().click()
    assert.equal(await body.textContent(), sent)
    assert.equal(arrival?.headers['x-team'], 'billing')
    assert.deepEqual(visitor.findings, [])
  })

  test('the secret is read in both forms, both verify, and the shown command prints the signature that was sent', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/webhooks/secret`)
    await page.getByRole('button', { name: 'Show the secret' }).click()
    await page.locator('[data-secret]').first().waitFor()
    await checkState(visitor, 'webhooks-secret-dark')
    const [whole = '', standard = ''] = await page.locator('[data-secret]').allTextContents()
    assert.match(whole, /^svc_whsec_[A-Za-z0-9]{48}$/)
    assert.equal(standard, whole.slice(4))
    const [arrival] = atPath('/first')
    assert.ok(arrival)
    const headers = arrival.headers as Record<string, string>
    assert.ok(new Standard(standard).verify(arrival.body, headers))
    const plain = createHmac('sha256', whole).update(arrival.body).digest('hex')
    assert.equal(headers['intercept-signature-256'], `sha256=${plain}`)

    await page.goto(`${product.baseUrl}/o/acme/webhooks/deliveries`)
    await page.getByRole('row', { name: /webhook\.ping/ }).click()
    await page.getByText('Verify it yourself').click()
    const command = await page
      .getByRole('group', { name: 'command that computes the signature' })
      .textContent()
    const said = execFileSync('bash', ['-c', command ?? ''], { input: `${whole}\n` }).toString()
    assert.equal(said.trim(), headers['webhook-signature'])
    assert.deepEqual(visitor.findings, [])
  })

  test('rotating shows the new secret, names the old one with its end, and both sign meanwhile', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/webhooks/secret`)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page
      .getByRole('dialog', { name: 'Rotate the signing secret' })
      .getByRole('button', { name: 'Rotate' })
      .click()
    await page.getByText('Old secrets that still sign').waitFor()
    await checkState(visitor, 'webhooks-rotated-light')
    const whole = (await page.locator('[data-secret]').first().textContent()) ?? ''
    const id = await endpointFor('/rotated')
    await owner.call(`POST /organizations/acme/webhooks/endpoints/${id}/ping`)
    await until(() => atPath('/rotated').length > 0, 'the ping')
    const [arrival] = atPath('/rotated')
    const headers = arrival?.headers as Record<string, string>
    assert.equal(headers['webhook-signature']?.split(' ').length, 2)
    assert.ok(new Standard(whole.slice(4)).verify(arrival?.body ?? '', headers))
    await page.getByRole('button', { name: 'End now' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'End now' }).click()
    await page.getByText('Old secrets that still sign').waitFor({ state: 'detached' })
    await owner.call(`POST /organizations/acme/webhooks/endpoints/${id}/ping`)
    await until(() => atPath('/rotated').length > 1, 'the second ping')
    const second = atPath('/rotated')[1]?.headers as Record<string, string>
    assert.equal(second['webhook-signature']?.split(' ').length, 1)
    assert.deepEqual(visitor.findings, [])
  })

  test('a receiver that breaks is held, says what waits and when it is tried; repaired, nothing is lost', async () => {
    await using visitor = await visit({ width: 390 })
    const { page } = visitor
    const id = await endpointFor('/breaks')
    receiver.answer = (response, { path }) =>
      response.writeHead(path === '/breaks' ? 500 : 204).end()
    for (let ping = 0; ping < 24; ping++) {
      await owner.call(`POST /organizations/acme/webhooks/endpoints/${id}/ping`)
    }
    await page.goto(`${product.baseUrl}/o/acme/webhooks/${id}`)
    await page.getByText(/^Held: \d+ failures in a row since/).waitFor()
    await page.getByText('24 deliveries wait and will be sent when it answers').waitFor()
    await page.getByText('Next try').waitFor()
    await checkState(visitor, 'webhooks-held-narrow')
    receiver.answer = (response) => response.writeHead(204).end()
    product.clock.forward(10 * minuteMs)
    await page.getByText(/^Held:/).waitFor({ state: 'detached' })
    product.clock.forward(10 * minuteMs)
    await page.getByRole('link', { name: /^Delivered 24/ }).waitFor({ timeout: 20_000 })
    // A phone has no room for a column of times, so they appear below the type.
    await page
      .getByRole('row')
      .filter({ hasText: 'webhook.ping' })
      .locator('time:visible')
      .first()
      .waitFor()
    const delivered = new Set(atPath('/breaks').map((one) => one.headers['webhook-id']))
    assert.equal(delivered.size, 24)
    assert.deepEqual(visitor.findings, [])
  })

  test('filters live in the address: reload and Back keep them, and Clear clears', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/webhooks`)
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
    await page.getByLabel('State', { exact: true }).selectOption('dead')
    await page.getByText('No deliveries match. 1 filter is on.').waitFor()
    await checkState(visitor, 'webhooks-none-match-light')
    assert.equal(new URL(page.url()).searchParams.get('state'), 'dead')
    await page.reload()
    await page.getByText('No deliveries match. 1 filter is on.').waitFor()
    await page.getByRole('link', { name: 'Event types', exact: true }).click()
    await page.getByRole('heading', { name: 'api_key.issued' }).waitFor()
    await checkState(visitor, 'webhooks-types-light')
    await page.goBack()
    await page.getByText('No deliveries match. 1 filter is on.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    await page
      .getByRole('row', { name: /webhook\.ping/ })
      .first()
      .waitFor()
    assert.equal(new URL(page.url()).search, '')
    assert.deepEqual(visitor.findings, [])
  })

  test('a viewer sees endpoints, deliveries and types, and is offered nothing that the role does not include', async () => {
    await command(product, 'member add acme vera@acme.test --role viewer')
    const link = await withLinks(product, async (links) => await links.signInLink('vera@acme.test'))
    await using visitor = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/webhooks`)
    await page.getByRole('link', { name: 'Billing' }).waitFor()
    await checkState(visitor, 'webhooks-viewer-light')
    assert.equal(await page.getByRole('button', { name: 'Add endpoint' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Secret', exact: true }).count(), 0)
    await page.getByRole('link', { name: 'Billing' }).click()
    await page.getByText('Latest deliveries').waitFor()
    for (const action of ['Send ping', 'Edit', 'More']) {
      assert.equal(await page.getByRole('button', { name: action }).count(), 0, action)
    }
    await page.getByRole('row', { name: /webhook\.ping/ }).click()
    await page.getByRole('dialog', { name: 'webhook.ping' }).getByText('Attempt 1').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Replay' }).count(), 0)
    await page.goto(`${product.baseUrl}/o/acme/webhooks/secret`)
    await page.getByText('Only owners and admins see the signing secret.').waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('disabling can be undone; deleting asks for the name of an endpoint in use', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    const id = await endpointFor('/goes')
    await owner.call(`POST /organizations/acme/webhooks/endpoints/${id}/ping`)
    await until(() => atPath('/goes').length > 0, 'the ping')
    await page.goto(`${product.baseUrl}/o/acme/webhooks/${id}`)
    await chooseMore(page, 'Disable')
    await page.getByText('Somebody switched it off.').waitFor()
    await checkState(visitor, 'webhooks-disabled-dark')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Send ping' }).waitFor()
    await chooseMore(page, 'Delete')
    const dialog = page.getByRole('alertdialog', { name: 'Delete this endpoint?' })
    const action = dialog.getByRole('button', { name: 'Delete' })
    assert.ok(await action.isDisabled())
    await dialog.getByLabel('Type goes to go on').fill('goes')
    await action.click()
    await page.getByText('Endpoint deleted').waitFor()
    assert.equal((await owner.call(`GET /organizations/acme/webhooks/endpoints/${id}`)).status, 404)
    assert.deepEqual(visitor.findings, [])
  })
})

describe('a replay of 10,000 deliveries in the dashboard', { timeout: 240_000 }, () => {
  test('the dry run counts what the replay sends; pause, reload and a restart of the server lose nothing; cancel stops', async () => {
    freshDashboard()
    const parts = new AsyncDisposableStack()
    await using _ = parts
    const product = await productForTests()
    parts.use(product)
    const owner = await firstOwner(product)
    const receiver = parts.use(await startReceiver())
    const browser = parts.use(await browserForTests())
    const made = await owner.call('POST /organizations/acme/webhooks/endpoints', {
      url: receiver.url,
      description: 'Archive',
    })
    const id = made.json.id as string
    const one = `/organizations/acme/webhooks/endpoints/${id}`
    await owner.call(`POST ${one}/disable`)
    await publishMany(product, deliveries)
    await owner.call(`POST ${one}/enable`)

    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    await using visitor = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      link,
      // The page keeps polling while the server restarts.
      expected: [/ERR_CONNECTION_REFUSED/, /ERR_EMPTY_RESPONSE/, /ERR_CONNECTION_RESET/, /503/],
    })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/webhooks/${id}`)
    await chooseMore(page, 'Replay everything missed')
    const dialog = page.getByRole('dialog', { name: 'Replay deliveries' })
    const counted = await dialog.getByText(/[\d,]+ deliveries will be sent again/).textContent()
    const count = Number(/^[\d,]+/.exec(counted ?? '')?.[0].replaceAll(',', ''))
    assert.ok(count >= deliveries, `${count} counted`)
    await checkState(visitor, 'webhooks-replay-light')
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await checkState(visitor, 'operation-paused-light')
    const atPause = await shownProgress(page)
    assert.equal(atPause.total, count)
    assert.ok(atPause.done < count, `${atPause.done} were done before the pause`)
    await page.reload()
    assert.deepEqual(await shownProgress(page), atPause)

    await product.restart()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText(/^All [\d,]+ were sent again/).waitFor({ timeout: 60_000 })
    assert.deepEqual(await shownProgress(page), { done: count, total: count })
    await checkState(visitor, 'operation-done-light')

    const path = new URL(page.url()).pathname
    await owner.call(`POST ${one}/disable`)
    await owner.call(`POST ${one}/enable`)
    await page.goto(`${product.baseUrl}/o/acme/webhooks/deliveries?endpoint=${id}&type=${type}`)
    await page.getByRole('button', { name: 'Replay…' }).click()
    await dialog.getByText(/deliveries will be sent again/).waitFor()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('button', { name: 'Cancel operation' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel operation' }).click()
    await page.getByText(/^Cancelled after [\d,]+ of [\d,]+\./).waitFor()
    const cancelled = await shownProgress(page)
    assert.ok(cancelled.done < cancelled.total)
    assert.notEqual(new URL(page.url()).pathname, path)
    await page.reload()
    assert.deepEqual(await shownProgress(page), cancelled)
    assert.deepEqual(visitor.findings, [])
  })
})

const deliveries = 10_000
const type = 'organization.plan_changed'

/** Publishes events through the store, as the product does, but 500 per transaction. */
async function publishMany(product: TestProduct, count: number): Promise<void> {
  await using store = await openStore({
    databaseUrl: product.env['DATABASE_URL'],
    folder: product.folder,
    clock: product.clock,
    isNode: false,
  })
  const acme = await organizations.findBySlug(store, 'acme')
  assert.ok(acme)
  for (let done = 0; done < count; done += 500) {
    await store.transaction(async (tx) => {
      for (let index = 0; index < 500; index++) {
        tx.event({ organizationId: acme.id, type, data: { before: 'a', after: 'b' } })
      }
    })
  }
}

async function shownProgress(page: Page): Promise<{ done: number; total: number }> {
  const bar = page.getByRole('progressbar')
  await bar.waitFor()
  return {
    done: Number(await bar.getAttribute('value')),
    total: Number(await bar.getAttribute('max')),
  }
}

async function chooseMore(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 45_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}`)
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
}
