import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { isFirefox, type TestBrowser, type Visitor } from './browser.ts'

const root = join(import.meta.dirname, '..', '..')
const web = join(root, 'web')
const pictures = join(root, 'test', 'pictures')

interface Visit {
  readonly baseUrl: string
  readonly link?: string | undefined
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  readonly expected?: readonly RegExp[]
  /** Origins of test servers that a page may visit. */
  readonly alsoAllow?: readonly string[]
}

/** Builds web/dist if it is missing or older than a source, so that journeys test the current sources. */
export function freshDashboard(): void {
  const built = join(web, 'dist', 'index.html')
  const sources = globSync(['*.{ts,html,json}', 'src/**/*', 'words/**/*', 'public/*'], { cwd: web })
  const newest = Math.max(...sources.map((name) => statSync(join(web, name)).mtimeMs))
  if (existsSync(built) && statSync(built).mtimeMs > newest) return
  execFileSync(process.execPath, [join(web, 'build.ts')], { timeout: 120_000 })
}

/** Opens the dashboard in a browser, signed in if a sign-in link is given. */
export async function visitDashboard(browser: TestBrowser, visit: Visit): Promise<Visitor> {
  const visitor = await browser.visit({
    origin: visit.baseUrl,
    width: visit.width ?? 1360,
    height: visit.height ?? (visit.width !== undefined && visit.width < 500 ? 844 : 860),
    colorScheme: visit.colorScheme ?? 'light',
    expected: visit.expected ?? [],
    alsoAllow: visit.alsoAllow ?? [],
  })
  visitor.page.setDefaultTimeout(10_000)
  // Simulates a second visit, on which the fonts load from the start.
  await visitor.context.addInitScript(`try { localStorage.setItem('fonts', 'loaded') } catch {}`)
  if (visit.link !== undefined) {
    await visitor.page.goto(visit.link)
    // A script on the link's page submits its form, which signs the person in.
    await visitor.page.waitForURL(/\/(?:o|welcome)\b/, { waitUntil: 'commit' })
  }
  return visitor
}

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/** Limits the wait for animations, because an animation of something invisible never ends. */
const maxAnimationMs = 150
const tallestPicture = 1800
const tabsAtOnce = 3
const tabTimeoutMs = 15_000
/** Runs in the page: finds buttons, links and fields that an ancestor cuts off at the left or at the right. */
const cutOff = `[...document.querySelectorAll('button, a[href], input, select, textarea')].flatMap((control) => {
  const box = control.getBoundingClientRect()
  if (box.width <= 1 || control.closest('.visually-hidden, [aria-hidden=true], pre') !== null) return []
  for (let around = control.parentElement; around !== null; around = around.parentElement) {
    const { overflowX, position, textOverflow } = getComputedStyle(around)
    if (position === 'fixed' || overflowX === 'auto' || overflowX === 'scroll') return []
    if (textOverflow === 'ellipsis' && control.tagName === 'A') return []
    if (overflowX !== 'clip' && overflowX !== 'hidden') continue
    const frame = around.getBoundingClientRect()
    if (box.right > frame.right + 1 || box.left < frame.left - 1)
      return [control.getAttribute('aria-label') ?? control.textContent ?? control.tagName]
  }
  return []
})`
/** The axe rules whose result depends on the theme; all others need to run in one theme only. */
const ofColours = ['color-contrast', 'link-in-text-block']
const runAxe = (rules?: readonly string[]): string =>
  `axe.run(document, { resultTypes: ['violations'], ${rules === undefined ? '' : `runOnly: ${JSON.stringify(rules)}`} }).then((report) =>
  JSON.stringify(report.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).join(', '))))`

/** Checks a page for accessibility violations, sideways scrolling and cut-off controls, and takes a picture. */
export async function checkState(
  visitor: Visitor,
  name: string,
  { whole = false }: { readonly whole?: boolean } = {},
): Promise<void> {
  const { page } = visitor
  await settle(page)
  if (whole) await seeAll(page)
  mkdirSync(pictures, { recursive: true })
  await takePicture(page, join(pictures, `${name}.png`), whole)
  assert.deepEqual(await violations(visitor), [], `${name}: accessibility`)
  await checkFits(page, name)
}

/**
 * Scrolls to the end of the page and back, so that the parts that load only when visible are loaded. A test that waits
 * for such a part must call this first: without scrolling, the part is in view only if the page happens to be drawn
 * while the parts above it are still empty.
 */
export async function seeAll(page: Page): Promise<void> {
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  // The page learns only after the next frame which parts have come into view.
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => 0)',
  )
  await page.waitForLoadState('networkidle')
  await settle(page)
  await page.evaluate('scrollTo(0, 0)')
}

async function checkFits(page: Page, name: string): Promise<void> {
  const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(Number(overflow) <= 0, `${name} is ${String(overflow)} px wider than the window`)
  assert.deepEqual(await page.evaluate(cutOff), [], `${name}: controls that are cut off`)
}

/** Processes a list in several tabs of one browser, so that a waiting page leaves the processor to the others. */
export async function inTabs<Item>(
  visitor: Visitor,
  items: readonly Item[],
  walk: (tab: Visitor, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const tabs = Array.from({ length: tabsAtOnce }, async (_, index) => {
    const page = index === 0 ? visitor.page : await visitor.context.newPage()
    page.setDefaultTimeout(tabTimeoutMs)
    const tab: Visitor = { ...visitor, page }
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await walk(tab, item)
    }
  })
  await Promise.all(tabs)
}

/** Checks a page in the light and the dark theme and at a width of 320 px, without a picture and without reloading. */
export async function checkWithout(visitor: Visitor, name: string): Promise<void> {
  const { page } = visitor
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await settle(page)
  assert.deepEqual(await violations(visitor), [], `${name}, light: accessibility`)
  assert.deepEqual(await namelessIn(visitor), [], `${name}: what a screen reader cannot name`)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  await settle(page)
  assert.deepEqual(await violations(visitor, ofColours), [], `${name}, dark: accessibility`)
  const before = page.viewportSize() ?? { width: 1360, height: 850 }
  await page.setViewportSize({ width: 320, height: 844 })
  await settle(page)
  await checkFits(page, `${name} at 320 px`)
  await page.setViewportSize(before)
}

/** Takes a picture of the viewport or, if `whole` is set and no dialog is open, of the page up to a maximum height. */
async function takePicture(page: Page, path: string, whole: boolean): Promise<void> {
  const dialog = await page.locator('[role=dialog]:has(h2), [role=alertdialog]').count()
  const width = page.viewportSize()?.width ?? 0
  const full = Number(await page.evaluate('document.documentElement.scrollHeight'))
  if (whole && dialog === 0) {
    const height = Math.min(full, tallestPicture)
    await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height } })
  } else {
    await page.screenshot({ path })
  }
}

// Runs axe and lists the violations. What the debugger evaluates is not subject to the page's CSP, which would block an
// injected script.
async function violations({ page }: Visitor, rules?: readonly string[]): Promise<string[]> {
  const isThere = await page.evaluate(`typeof axe !== 'undefined'`)
  if (isThere !== true) await page.evaluate(`${axeSource};0`)
  return JSON.parse(String(await page.evaluate(runAxe(rules)))) as string[]
}

const interactive = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch'],
  ...['slider', 'spinbutton', 'tab', 'menuitem', 'option', 'grid', 'dialog', 'alertdialog'],
])

/**
 * Lists interactive elements and dialogs without an accessible name and, unless a dialog is open, a heading or main
 * landmark that the page lacks.
 */
async function namelessIn({ page, context }: Visitor): Promise<string[]> {
  // Playwright can read the accessibility tree of Chromium only.
  if (isFirefox) return []
  const session = await context.newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const roleOf = (node: (typeof nodes)[number]) => String(node.role?.value ?? '')
  const seen = nodes.filter((node) => !node.ignored)
  const nameless = seen
    .filter((node) => interactive.has(roleOf(node)) && String(node.name?.value ?? '').trim() === '')
    .map((node) => `a ${roleOf(node)} without a name`)
  const roles = new Set(seen.map(roleOf))
  const missing = ['heading', 'main'].filter((role) => !roles.has(role) && !roles.has('dialog'))
  return [...nameless, ...missing.map((role) => `no ${role}`)]
}

/** Waits until every part of the page has its data, whatever the page's language. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.waitForSelector('[data-loading]', { state: 'detached' })
}

/** Waits until the page has its data, and then at most `maxAnimationMs` until its animations have ended. */
async function settle(page: Page): Promise<void> {
  await untilLoaded(page)
  await page.evaluate(
    `Promise.race([new Promise((resolve) => setTimeout(resolve, ${maxAnimationMs})), Promise.all(document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity).map((one) => one.finished.catch(() => 0)))]).then(() => 0)`,
  )
}
