import type { CDPSession, Page } from 'playwright-core'

const slowLine = { latencyMs: 400, bytesPerSecond: 50 * 1024 }
const scrollSteps = 60
/** The distance per frame of a fast flick of the mouse wheel. */
const scrollPx = 200
const maxPagesShown = 8
const heightOfPage = 'document.body.scrollHeight'
const settleMs = 1000
const waitMs = 60_000

export interface Scroll {
  readonly rows: number
  readonly frameMs: readonly number[]
}

/** Milliseconds from requesting a page by its URL until its data is visible. */
export async function timeToReady(page: Page, address: string): Promise<number> {
  await page.goto(address, { waitUntil: 'commit' })
  await ready(page)
  return await sinceStart(page)
}

/** Like `timeToReady`, but for a navigation inside the dashboard, whose files are already loaded. */
export async function timeToShow(page: Page, address: string): Promise<number> {
  const startedAt = await page.evaluate(`(() => {
    // Marks the previous page's heading; the next page replaces it with an unmarked one.
    document.querySelector('main h1')?.setAttribute('data-before', '')
    const now = performance.now()
    history.pushState({}, '', ${JSON.stringify(address)})
    dispatchEvent(new PopStateEvent('popstate'))
    return now
  })()`)
  await page.locator('main h1:not([data-before])').first().waitFor({ timeout: waitMs })
  await ready(page)
  return (await sinceStart(page)) - Number(startedAt)
}

/**
 * Measures the times between frames while a long list is scrolled, with the processor slowed down by the factor `rate`.
 */
export async function scrollList(page: Page, address: string, rate: number): Promise<Scroll> {
  await timeToReady(page, address)
  const more = page.getByRole('button', { name: 'Show more' })
  for (let pages = 0; pages < maxPagesShown && (await more.count()) > 0; pages++) {
    const before = await page.evaluate(heightOfPage)
    await more.click()
    for (const end = Date.now() + waitMs; Date.now() < end;) {
      if ((await page.evaluate(heightOfPage)) !== before || (await more.count()) === 0) break
    }
  }
  await settled(page)
  const rows = Number(await page.evaluate(`Math.round(document.body.scrollHeight / 36)`))
  const slow = await throttled(page, rate)
  const frameMs = (await page.evaluate(scrollAndMeasure)) as number[]
  await slow.detach()
  return { rows, frameMs }
}

const scrollAndMeasure = `new Promise((resolve) => {
  const times = []
  let last = performance.now()
  let step = 0
  const next = (now) => {
    times.push(now - last)
    last = now
    if (step++ === ${scrollSteps}) return resolve(times.slice(1))
    scrollBy(0, step <= ${scrollSteps / 2} ? ${scrollPx} : -${scrollPx})
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})`

/**
 * Measures for how many milliseconds a page blocks the main thread until the page has settled. Each task contributes
 * the time by which it exceeds 50 ms.
 */
export async function blockingTime(page: Page, address: string, rate: number): Promise<number> {
  const slow = await throttled(page, rate)
  await page.addInitScript(`
    globalThis.blocked = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.blocked += Math.max(0, duration - 50)
    }).observe({ type: 'longtask', buffered: true })`)
  await timeToReady(page, address)
  await settled(page)
  const blocked = Number(await page.evaluate('globalThis.blocked'))
  await slow.detach()
  return blocked
}

/** Measures a first visit over a slow connection: the milliseconds until each part of the page is visible. */
export async function slowVisit(page: Page, address: string) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: slowLine.latencyMs,
    downloadThroughput: slowLine.bytesPerSecond,
    uploadThroughput: slowLine.bytesPerSecond,
  })
  // The dashboard sets this item once it has loaded the fonts, so a first visit is without it.
  await page.addInitScript(`localStorage.removeItem('fonts')`)
  await page.goto(address, { waitUntil: 'commit' })
  await page.locator('.shell-nav a, main h1').first().waitFor({ timeout: waitMs })
  const waysMs = await sinceStart(page)
  await page.locator('main td').first().waitFor({ timeout: waitMs })
  const rowsMs = await sinceStart(page)
  await page.locator('main h1').first().waitFor({ timeout: waitMs })
  const headMs = await sinceStart(page)
  await ready(page)
  const dataMs = await sinceStart(page)
  const firstPaintMs = Number(
    await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`),
  )
  await session.detach()
  return { firstPaintMs, waysMs, rowsMs, headMs, dataMs }
}

/** Measures the compressed bytes of a first visit, by kind of file. */
export async function firstLoad(page: Page, address: string): Promise<Record<string, number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const kinds = new Map<string, string>()
  const bytes: Record<string, number> = {}
  session.on('Network.responseReceived', ({ requestId, type }) => kinds.set(requestId, type))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? 'Other'
    bytes[kind] = (bytes[kind] ?? 0) + encodedDataLength
  })
  await timeToReady(page, address)
  await session.detach()
  return bytes
}

async function throttled(page: Page, rate: number): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  return session
}

async function ready(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor({ timeout: waitMs })
  const reading = page.locator('p[role=status] > span').first()
  await reading.waitFor({ state: 'detached', timeout: waitMs })
}

/** Waits for a fixed time, in which a page finishes its work on the data, such as compiling code and drawing charts. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${settleMs}))`)
}

async function sinceStart(page: Page): Promise<number> {
  return Number(await page.evaluate('performance.now()'))
}
