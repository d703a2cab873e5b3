import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'

const web = join(import.meta.dirname, '..', '..', 'web')
const buildTimeoutMs = 120_000
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  woff2: 'font/woff2',
}

/**
 * Builds the dashboard with marked texts, either lengthened English or real German, and serves that build in
 * place of the dashboard in this browser context.
 */
export async function showMarked(
  context: BrowserContext,
  folder: string,
  language: 'en' | 'de',
): Promise<void> {
  execFileSync(process.execPath, [join(web, 'build-pseudo.ts'), folder, language], {
    timeout: buildTimeoutMs,
  })
  // A new tab is first an empty page, whose storage is unavailable.
  await context.addInitScript(`try { localStorage.setItem('language', '${language}') } catch {}`)
  await context.route('**/assets/**', async (route) => {
    const { pathname } = new URL(route.request().url())
    const contentType = types[pathname.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    await route.fulfill({ contentType, body: readFileSync(join(folder, pathname)) })
  })
  await context.route(/\/(?:sign-in|welcome|you|o\/[^.]*)$/, async (route) => {
    if (route.request().resourceType() !== 'document') return await route.continue()
    // Keep the headers of the server's own response, so that its content security policy applies.
    const response = await route.fetch()
    const headers = { ...response.headers() }
    for (const name of ['content-encoding', 'content-length', 'etag']) delete headers[name]
    await route.fulfill({ status: 200, headers, body: readFileSync(join(folder, 'index.html')) })
  })
}

/** Finds texts on the page that come neither from the catalogue nor from `data`; code and times are excluded. */
export async function plainTexts(page: Page, data: readonly RegExp[]): Promise<string[]> {
  const found = (await page.evaluate(readTexts)) as string[]
  const rest = found.map((text) => {
    let left = text
    for (let before = ''; before !== left;) {
      before = left
      left = left.replaceAll(/⟦[^⟦⟧]*⟧/g, ' ')
    }
    for (const pattern of data) left = left.replaceAll(pattern, ' ')
    return left.trim()
  })
  return [...new Set(rest.filter((text) => /\p{L}{2}/u.test(text)))]
}

export async function cutTexts(page: Page): Promise<string[]> {
  return [...new Set(await page.evaluate<string[]>(readCut))]
}

const readTexts = `(() => {
  const plain = 'code, pre, time, kbd, .mono, [data-secret], script, style, noscript'
  const texts = [document.title]
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest(plain) === null) texts.push(node.data)
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')) {
    if (element.closest(plain) !== null) continue
    for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
      texts.push(element.getAttribute(name) ?? '')
  }
  return texts.map((text) => text.trim()).filter((text) => text !== '')
})()`

// Runs in the page: finds cut-off texts, except those that a tooltip shows as a whole or that people can scroll to.
const readCut = `[...document.querySelectorAll('body *')].flatMap((element) => {
  if (element.closest('.visually-hidden, [aria-hidden=true], pre, select') !== null) return []
  if (element.title !== '' && element.title === element.textContent) return []
  if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.includes('⟧'))) return []
  const range = document.createRange()
  range.selectNodeContents(element)
  const text = range.getBoundingClientRect()
  if (text.width <= 1 || !element.checkVisibility({ visibilityProperty: true })) return []
  for (let around = element; around !== null; around = around.parentElement) {
    const { overflowX, overflowY, clipPath } = getComputedStyle(around)
    if (clipPath !== 'none' || overflowX === 'auto' || overflowX === 'scroll') return []
    if (overflowX === 'visible' && overflowY === 'visible') continue
    const frame = around.getBoundingClientRect()
    if (text.right > frame.right + 1 || text.left < frame.left - 1 || text.bottom > frame.bottom + 2)
      return [element.tagName.toLowerCase() + ' ' + element.textContent.trim()]
  }
  return text.right > document.documentElement.clientWidth + 1 ? ['beyond the window: ' + element.textContent] : []
})`
