import assert from 'node:assert/strict'
import type { Page, Route } from 'playwright-core'
import type { Visitor } from './browser.ts'

/** A list in the dashboard: its page, the request it makes, and its text when it is empty. */
export interface ListPage {
  readonly page: string
  readonly api: string
  readonly empty: string
  /** How many rows the state "many" has; each is a copy of a real one. */
  readonly many?: number
}

const requestId = 'req_01kaexample0000000000000000'
const problem = {
  type: 'http://localhost/problems/internal_error',
  title: 'Something went wrong here',
  status: 500,
  code: 'internal_error',
  detail: 'Something went wrong here.',
  request_id: requestId,
}
/** Long enough that a response no longer counts as fresh. */
const staleMs = 11_000

type Answer = 'held' | 'failed' | 'none' | 'many' | 'unreachable'

/**
 * Puts a list through its states: loading, failed, empty, many rows, and outdated rows while the server does not
 * respond.
 */
export async function walkStates(visitor: Visitor, base: string, list: ListPage): Promise<void> {
  const { page } = visitor
  const given = await givenAnswer(page, base, list)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let mode: Answer = 'held'
  const pattern = (url: URL): boolean => url.pathname === `/api/v1${list.api}`
  const handle = async (route: Route): Promise<void> => {
    if (route.request().method() !== 'GET') return await route.continue()
    if (mode === 'held') await released
    if (mode === 'none') return await route.fulfill({ json: { ...given, items: [], next: null } })
    if (mode === 'many') return await route.fulfill({ json: given })
    await route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      headers: { 'intercept-request-id': requestId },
      body: JSON.stringify(problem),
    })
  }
  const nothingAnswers = async (route: Route): Promise<void> => {
    if (mode === 'unreachable') await route.abort('connectionrefused')
    else await route.fallback()
  }
  await page.route(pattern, handle)
  await page.route('**/api/v1/**', nothingAnswers)
  try {
    await page.goto(base + list.page)
    await page.getByText('Reading…').first().waitFor()
    mode = 'failed'
    release()
    const alert = page.getByRole('alert').filter({ hasText: requestId }).first()
    await alert.getByRole('link', { name: 'internal_error' }).waitFor()
    mode = 'none'
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(list.empty).first().waitFor()
    assert.equal(await alert.count(), 0, `${list.page}: empty is told from failed`)

    mode = 'many'
    await page.reload()
    const last = page.locator('[data-row], main section, main li').last()
    await last.waitFor()
    const before = await page.locator('h1').first().textContent()
    await fits(page, list.page)

    mode = 'unreachable'
    await page.clock.fastForward(staleMs)
    await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
    const banner = page.getByText('Intercept does not answer. Trying again…')
    // The dashboard retries before it reports the failure, so skip the delays in between.
    for (let tries = 0; tries < 20 && !(await banner.isVisible()); tries++) {
      await page.clock.fastForward(2500)
    }
    await banner.waitFor()
    assert.equal(await page.locator('h1').first().textContent(), before)
    assert.ok(await last.isVisible(), `${list.page}: rows stay while nothing answers`)
    mode = 'many'
    await page.clock.fastForward(staleMs)
    await banner.waitFor({ state: 'detached' })
  } finally {
    await page.unroute('**/api/v1/**', nothingAnswers)
    await page.unroute(pattern, handle)
  }
}

/** Requests a real response and repeats its first item, with other ids. */
async function givenAnswer(page: Page, base: string, list: ListPage) {
  const real = await page.request.get(`${base}/api/v1${list.api}`)
  const answer = (await real.json()) as { items: { id: string }[] }
  const [item] = answer.items
  assert.ok(item, `${list.api} has an item to copy`)
  const items = Array.from({ length: list.many ?? 120 }, (_, index) => ({
    ...item,
    id: `${item.id.slice(0, -4)}${String(index).padStart(4, '0')}`,
  }))
  return { ...answer, items }
}

async function fits(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? { width: 1360, height: 850 }
  await page.setViewportSize({ width: 390, height: 844 })
  const over = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(Number(over) <= 0, `${name} is ${String(over)} px too wide with many rows`)
  await page.setViewportSize(size)
}
