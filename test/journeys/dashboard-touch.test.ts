import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Visitor } from '../harness/browser.ts'
import { untilLoaded } from '../harness/dashboard.ts'
import { furnishedForTests, type Furnished } from '../harness/furnished.ts'

const pages = [
  '',
  '/calls',
  '/keys',
  '/targets',
  '/targets/payments',
  '/webhooks',
  '/members',
  '/sso',
  '/audit',
  '/settings',
]
/**
 * Runs in the page: lists controls that are too small for a finger. Switches, checkboxes and radio buttons are left
 * out, because their touch area is larger than their visible part.
 */
const tooSmall = `[...document.querySelectorAll('button, select, summary, nav a, [role=tab], input:not([type=checkbox], [type=radio])')]
  .filter((one) => one.getClientRects().length > 0 && one.role !== 'switch' && one.closest('.visually-hidden') === null)
  .map((one) => [one.getBoundingClientRect(), (one.getAttribute('aria-label') ?? one.textContent).trim().slice(0, 30)])
  .filter(([box]) => box.width > 1 && (box.height < 43.5 || box.width < 43.5))
  .map(([box, name]) => name + ' ' + Math.round(box.width) + ' x ' + Math.round(box.height))`

describe('the dashboard under a finger', { timeout: 120_000 }, () => {
  let parts: Furnished
  let visitor: Visitor
  before(async () => {
    parts = await furnishedForTests()
    visitor = await parts.visit()
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  test('what is pressed is at least 44 px high and wide where the pointer is coarse', async () => {
    const browser = visitor.context.browser()
    assert.ok(browser)
    const viewport = { width: 390, height: 844 }
    const phone = await browser.newContext({ viewport, hasTouch: true, isMobile: true })
    await phone.addCookies(await visitor.context.cookies())
    const page = await phone.newPage()
    const found: string[] = []
    for (const path of pages) {
      await page.goto(`${parts.baseUrl}/o/acme${path}`)
      await page.locator('main h1').waitFor()
      await untilLoaded(page)
      assert.ok(await page.evaluate(`matchMedia('(pointer: coarse)').matches`))
      for (const one of (await page.evaluate(tooSmall)) as string[]) found.push(`${path} ${one}`)
      const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
      assert.ok(Number(wider) <= 0, `${path} is ${String(wider)} px wider than the phone`)
      if (path === '/targets/payments')
        await page.screenshot({ path: 'test/pictures/touch-target.png' })
    }
    await phone.close()
    assert.deepEqual(found, [])
  })
})
