// Opens the pages in pages.ts in Firefox. The tests are skipped unless TEST_BROWSER=firefox is set, as in this command:
// TEST_BROWSER=firefox npm test -- pages-in-firefox journeys/sign-in journeys/company-sign-in
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFirefox } from '../harness/browser.ts'
import { untilLoaded } from '../harness/dashboard.ts'
import { furnishedForTests } from '../harness/furnished.ts'

const why = 'needs TEST_BROWSER=firefox and a Firefox, which npm does not bring'

test(
  `every page opens in Firefox, fits the window and reports no error${isFirefox ? '' : ` (skipped: ${why})`}`,
  { skip: isFirefox ? false : why, timeout: 240_000 },
  async () => {
    await using product = await furnishedForTests()
    await using visitor = await product.visit()
    const { page } = visitor
    for (const width of [1360, 390]) {
      await page.setViewportSize({ width, height: 844 })
      for (const [name, address] of product.addresses) {
        await product.open(visitor, name, address)
        await untilLoaded(page)
        const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        assert.ok(Number(over) <= 0, `${name} is ${String(over)} px wider than ${width} px`)
        assert.deepEqual(visitor.findings, [], name)
      }
    }
  },
)

test(
  `a key is issued in Firefox, and the page of calls shows its first call${isFirefox ? '' : ` (skipped: ${why})`}`,
  { skip: isFirefox ? false : why, timeout: 120_000 },
  async () => {
    await using product = await furnishedForTests()
    await using visitor = await product.visit()
    const { page } = visitor
    await product.open(visitor, 'keys-issue', '/o/acme/keys?issue=now')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('From Firefox')
    await dialog.getByRole('button', { name: 'Issue key' }).click()
    const shown = await dialog
      .getByText(/^svc_live_/)
      .first()
      .textContent()
    const secret = /svc_live_\w+/.exec(shown ?? '')?.[0] ?? ''
    const response = await fetch(`${product.baseUrl}/api/v1/intercept/payments/from-firefox`, {
      headers: { 'X-API-Key': secret },
    })
    await response.text()
    const calls = await visitor.context.newPage()
    await calls.goto(`${product.baseUrl}/o/acme/calls`)
    await calls.getByText('/from-firefox').first().waitFor()
    assert.deepEqual(visitor.findings, [])
  },
)
