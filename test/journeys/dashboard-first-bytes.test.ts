import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import type { Visitor } from '../harness/browser.ts'
import { furnishedForTests, type Furnished } from '../harness/furnished.ts'

/** Pages whose data is requested before their code has loaded, and words that appear only with the data. */
const early = {
  '': 'checkout-worker',
  '/calls': 'checkout-worker',
  '/keys': 'checkout-worker',
  '/targets': 'payments',
  '/members': 'olga@acme.test',
}

describe('the first bytes of the dashboard', { timeout: 120_000 }, () => {
  let parts: Furnished
  let visitor: Visitor
  let page: Page
  before(async () => {
    parts = await furnishedForTests()
    visitor = await parts.visit()
    page = visitor.page
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  test('what is asked for before the code is there is what the page needs, and is asked for once', async () => {
    for (const [path, text] of Object.entries(early)) {
      await page.goto('about:blank')
      const asked: string[] = []
      const note = (request: { url(): string }) => {
        const { pathname, search } = new URL(request.url())
        if (pathname.startsWith('/api/')) asked.push(pathname + search)
      }
      page.on('request', note)
      await page.goto(`${parts.baseUrl}/o/acme${path}`)
      await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
      page.off('request', note)
      // Keys may be requested again, because the page polls them every second.
      const again = asked.filter(
        (one, index) => asked.indexOf(one) !== index && !one.endsWith('/keys'),
      )
      assert.deepEqual(again, [], path)
      assert.deepEqual(await page.evaluate('Object.keys(window.asked)'), [], path)
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('heading, navigation and the last calls stand there before the code, in the language of the page', async () => {
    const { promise: codeMayCome, resolve: letCodeCome } = Promise.withResolvers<void>()
    await page.route(/\/assets\/main-.*\.js$/, async (route) => {
      await codeMayCome
      await route.continue()
    })
    for (const [language, title] of [
      ['de', 'Aufrufe'],
      ['en', 'Calls'],
    ] as const) {
      await page.goto('about:blank')
      await page
        .context()
        .addInitScript(`try { localStorage.setItem('language', '${language}') } catch {}`)
      await page.goto(`${parts.baseUrl}/o/acme/calls`, { waitUntil: 'commit' })
      await page.locator('.shell-title').getByText(title, { exact: true }).waitFor()
      assert.equal(await page.locator('.shell-nav a[aria-current=page]').textContent(), title)
    }
    const row = page.locator('.shell-page tr').filter({ hasText: 'checkout-worker' }).first()
    await row.waitFor()
    assert.match(
      (await row.locator('td').allTextContents()).join(' | '),
      /^(?:\d\d \w{3}, )?\d\d:\d\d:\d\d \| \d{3} \| [A-Z]+ \/\S* \| \w+ \| checkout-worker$/,
    )
    await page.setViewportSize({ width: 320, height: 860 })
    await page.screenshot({ path: 'test/pictures/first-bytes-narrowest.png' })
    const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
    assert.ok(Number(wider) <= 0, `${String(wider)} px wider than a small phone`)
    await page.setViewportSize({ width: 1360, height: 860 })
    await page.screenshot({ path: 'test/pictures/first-bytes-light.png' })
    await page.locator('.shell-nav').getByText('Targets').click({ noWaitAfter: true })
    await page.waitForURL(/\/targets$/, { waitUntil: 'commit' })
    letCodeCome()
    await page.getByRole('heading', { name: 'Targets', level: 1 }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('long answers of the API are compressed for whoever offers it; short ones and those with a tag are not', async () => {
    const list = '/api/v1/organizations/acme/calls'
    const [plain, gzip, refused] = await Promise.all([
      read(list),
      read(list, 'br, gzip;q=0.5'),
      read(list, 'gzip;q=0'),
    ])
    assert.deepEqual(
      [plain, gzip, refused].map((one) => one.headers['content-encoding']),
      [undefined, 'gzip', undefined],
    )
    assert.match(String(plain.headers['vary']), /accept-encoding/i)
    assert.deepEqual(gunzipSync(gzip.body), plain.body)
    assert.ok(gzip.body.length * 3 < plain.body.length)
    const short = await read('/api/v1/me', 'gzip')
    assert.equal(short.headers['content-encoding'], undefined)
    const tagged = await read('/api/v1/organizations/acme/targets/payments', 'gzip')
    assert.notEqual(tagged.headers['etag'], undefined)
    assert.equal(tagged.headers['content-encoding'], undefined)
  })

  /** Reads the bytes as they were sent, because fetch would negotiate and decode encodings by itself. */
  async function read(path: string, encodings?: string) {
    const cookies = await visitor.context.cookies(parts.baseUrl)
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = { cookie, ...(encodings === undefined ? {} : { 'accept-encoding': encodings }) }
    get(parts.baseUrl + path, { headers }, resolve).once('error', reject)
    const response = await promise
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    assert.equal(response.statusCode, 200)
    return { headers: response.headers, body: Buffer.concat(chunks) }
  }
})
