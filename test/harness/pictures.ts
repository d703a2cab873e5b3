// npm run pictures [-- page …]: takes pictures of the pages in pages.ts or only of the named ones, with two days of
// calls, in both themes and several widths. They are written to test/pictures. If all three pages shown in the README
// are among them, pictures of these are also written to docs/pictures.
import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { browserForTests, type TestBrowser } from './browser.ts'
import { checkState, freshDashboard, visitDashboard } from './dashboard.ts'
import { opensDialog, organizationPages, ownPages, pageAddress, type PageIds } from './pages.ts'
import { firstOwner, withLinks, type Person } from './person.ts'
import { callOnce, furnish, idsOf } from './acme.ts'
import { companyFor } from './company.ts'
import { productForTests, type TestProduct } from './product.ts'
import { intercept } from './terminal.ts'
import { upstreamForTests } from './upstream.ts'

const root = join(import.meta.dirname, '..', '..')
const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000
const stepMs = 6 * minuteMs
const stepOfTheDayBeforeMs = 7 * minuteMs
const biggestBytes = 150 * 1024
const forReadme = ['overview', 'calls', 'target']
const looks = [
  { look: 'light', colorScheme: 'light', width: 1360 },
  { look: 'dark', colorScheme: 'dark', width: 1360 },
  { look: 'narrow', colorScheme: 'light', width: 390 },
  { look: 'narrow-dark', colorScheme: 'dark', width: 390 },
  { look: 'narrowest', colorScheme: 'light', width: 320 },
] as const
const chosen = process.argv.slice(2)
const pageNames = Object.keys(organizationPages) as (keyof typeof organizationPages)[]

freshDashboard()
await using product = await productForTests({ settings: { SIGN_UP: 'open' } })
const owner = await firstOwner(product)
const planned = await intercept(['org', 'set-plan', 'acme', 'enterprise'], { env: product.env })
if (planned.code !== 0) throw new Error(planned.err)
let refunds = 0
await using upstream = await upstreamForTests((request, response) => {
  const fails = request.url?.includes('refunds') === true && ++refunds % 3 === 0
  response.statusCode = request.url?.includes('missing') === true ? 404 : fails ? 503 : 200
  response.end('ok')
})
await using browser = await browserForTests()
await using _ = await companyFor(product, browser, owner)
const ids = await liveThroughTwoDays(product, owner, upstream.url)
const usableMs: number[] = []
for (const look of looks) await takeAll(browser, product, ids, look)
if (chosen.length === 0 || forReadme.every((name) => chosen.includes(name))) {
  await takeForReadme()
  console.log(`usable after ${Math.round(Math.max(...usableMs))} ms at most, page by page`)
}

async function takeForReadme(): Promise<void> {
  await takeAll(browser, product, ids, {
    look: 'readme',
    colorScheme: 'light',
    width: 1280,
    height: 720,
  })
  mkdirSync(join(root, 'docs', 'pictures'), { recursive: true })
  for (const name of forReadme) {
    const picture = join(root, 'test', 'pictures', `all-${name}-readme.png`)
    if (statSync(picture).size > biggestBytes) throw new Error(`${name} is larger than 150 KB`)
    copyFileSync(picture, join(root, 'docs', 'pictures', `${name}.png`))
  }
}

/**
 * Makes calls spread over the last two days by moving the product's clock, so that figures can be compared with the day
 * before.
 */
async function liveThroughTwoDays(
  at: TestProduct,
  person: Person,
  upstreamUrl: string,
): Promise<PageIds> {
  const made = await furnish(person, upstreamUrl)
  at.clock.forward(-2 * dayMs)
  let passed = 0
  while (passed < 2 * dayMs) {
    const isLastHour = passed >= 2 * dayMs - hourMs
    const nextMs = isLastHour ? minuteMs : passed < dayMs ? stepOfTheDayBeforeMs : stepMs
    const minute = Math.floor(passed / minuteMs)
    const wave =
      4 +
      Math.round(2 * Math.sin((passed / dayMs) * 2 * Math.PI)) +
      (Math.floor(passed / stepMs) % 3)
    const calls = Array.from(
      { length: isLastHour ? 1 : wave },
      async (_, index) => await callOnce(at, made.secrets, minute + index),
    )
    await Promise.all(calls)
    at.clock.forward(nextMs)
    passed += nextMs
  }
  return await idsOf(person, made)
}

async function takeAll(
  at: TestBrowser,
  of: TestProduct,
  known: PageIds,
  look: {
    readonly look: string
    readonly colorScheme: 'light' | 'dark'
    readonly width: number
    readonly height?: number
  },
): Promise<void> {
  const link = await withLinks(of, async (links) => await links.signInLink('olga@acme.test'))
  await using visitor = await visitDashboard(at, { baseUrl: of.baseUrl, link, ...look })
  const forAll = look.look !== 'readme'
  const wanted = forAll ? [...pageNames, ...ownPages] : forReadme
  for (const name of wanted) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    const own = (ownPages as readonly string[]).includes(name)
    const path = own ? `/${name}` : pageAddress(name as keyof typeof organizationPages, known)
    await visitor.page.goto(of.baseUrl + path)
    await visitor.page.locator('h1').first().waitFor()
    if (opensDialog.has(name)) await visitor.page.getByRole('dialog').first().waitFor()
    usableMs.push(Number(await visitor.page.evaluate('performance.now()')))
    await checkState(visitor, `all-${name}-${look.look}`, { whole: forAll })
  }
  for (const finding of visitor.findings) console.log(`${look.look}: ${finding}`)
  if (visitor.findings.length > 0) process.exitCode = 1
}
