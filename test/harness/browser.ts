import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
  chromium,
  firefox,
} from 'playwright-core'
import { cacheFolder } from './cache-folder.ts'
import { findProgram } from './proxy-program.ts'

/** A person who uses the browser; `findings` must be empty at the end of a journey. */
export interface Visitor extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Descriptions of unexpected CSP violations, page errors, console errors and requests to other origins. */
  readonly findings: string[]
}

/** A real browser: Chromium, unless TEST_BROWSER says otherwise. Visitors have separate cookies and storage. */
export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser
  visit(options?: VisitOptions): Promise<Visitor>
}

interface VisitOptions {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  /**
   * Origins of test servers (identity provider, fake GitHub) that a page may visit; the product's own origin is always
   * allowed.
   */
  readonly alsoAllow?: readonly string[]
  /** The product's origin; without it, requests are not checked. */
  readonly origin?: string
  readonly javaScriptEnabled?: boolean
  /** Findings that the journey provokes on purpose, such as the console line of a refused fetch. */
  readonly expected?: readonly RegExp[]
}

/** With TEST_BROWSER=firefox, journeys run in this machine's own Firefox instead of the Chromium that npm brings. */
export const isFirefox = process.env['TEST_BROWSER'] === 'firefox'

export async function browserForTests(): Promise<TestBrowser> {
  const browser = await (isFirefox ? startFirefox() : startChromium())
  return {
    browser,
    visit: (options = {}) => visit(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** Starts Chromium; the first start of a version on a machine unpacks it (about 2 s). */
async function startChromium(): Promise<Browser> {
  const executablePath = await executable()
  return await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    headless: true,
    // Never use the arguments that @sparticuz/chromium recommends: they switch web security off.
    args: ['--no-sandbox'],
  })
}

/** Starts an unmodified Firefox, driven by WebDriver BiDi; Playwright's own build can't be had from npm. */
async function startFirefox(): Promise<Browser> {
  const executablePath = findProgram('firefox-esr') ?? findProgram('firefox')
  if (executablePath === undefined) throw new Error('There is no Firefox on this machine.')
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath, headless: true })
  withoutMediaFeatures(browser)
  return browser
}

/**
 * Drops the command that emulates colour schemes, because Firefox ESR does not know it yet. Playwright sends it for
 * each new context, and has no setting to prevent that.
 */
function withoutMediaFeatures(browser: Browser): void {
  type Send = (this: unknown, method: string, params: unknown) => Promise<unknown>
  const { _connection: connection } = browser as unknown as {
    _connection: { toImpl(of: unknown): Record<'_browserSession', { send: Send }> }
  }
  const { _browserSession: session } = connection.toImpl(browser)
  const sessions = Object.getPrototypeOf(session) as { send: Send }
  const { send } = sessions
  sessions.send = async function (method, params) {
    if (method === 'emulation.setMediaFeaturesOverride') return {}
    return await send.call(this, method, params)
  }
}

/**
 * Makes `fill` of all locators type the text. In Firefox, Playwright's own `fill` sets the field's value directly, and
 * React does not notice that.
 */
function typeInsteadOfFilling(page: Page): void {
  const locators = Object.getPrototypeOf(page.locator('body')) as Pick<Locator, 'fill'>
  locators.fill = async function (this: Locator, text: string) {
    await this.focus()
    await this.press('Control+a')
    await this.press('Delete')
    await this.pressSequentially(text)
  }
}

/** Matches what Firefox reports because of the tests: blocked styles of Playwright and axe, aborted font downloads. */
const ofTheDriver = /> eval|blocked an inline style|download failed/

async function visit(browser: Browser, options: VisitOptions): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1360, height: options.height ?? 850 },
    colorScheme: options.colorScheme ?? 'light',
    javaScriptEnabled: options.javaScriptEnabled ?? true,
    serviceWorkers: 'block',
  })
  const findings: string[] = []
  const report = (finding: string): void => {
    const expected = [...(options.expected ?? []), ...(isFirefox ? [ofTheDriver] : [])]
    if (!expected.some((pattern) => pattern.test(finding))) findings.push(finding)
  }
  await context.exposeBinding('reportCspViolation', (_source, sentence: string) =>
    report(`CSP: ${sentence}`),
  )
  await context.addInitScript(watchViolations)
  context.on('page', (page) => watch(page, options, report))
  const page = await context.newPage()
  if (isFirefox) typeInsteadOfFilling(page)
  return { page, context, findings, [Symbol.asyncDispose]: () => context.close() }
}

function watch(page: Page, options: VisitOptions, report: (finding: string) => void): void {
  page.on('pageerror', (error) => report(`page error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') {
      report(`console: ${message.text()} (${message.location().url})`)
    }
  })
  page.on('request', (request) => {
    const { origin } = new URL(request.url())
    const allowed = [options.origin, ...(options.alsoAllow ?? [])]
    if (options.origin && origin !== 'null' && !allowed.includes(origin)) {
      report(`foreign request: ${request.url()}`)
    }
  })
}

/** Reports CSP violations. It runs in the page, so it can't use anything from this file. */
function watchViolations(): void {
  interface Violation {
    readonly violatedDirective: string
    readonly blockedURI: string
    readonly sourceFile: string
  }
  const page = globalThis as unknown as {
    addEventListener(type: string, listener: (event: Violation) => void): void
    reportCspViolation(sentence: string): void
  }
  page.addEventListener('securitypolicyviolation', (event) => {
    const { violatedDirective, blockedURI, sourceFile } = event
    page.reportCspViolation(`${violatedDirective} blocked ${blockedURI} in ${sourceFile}`)
  })
}

async function executable(): Promise<string | undefined> {
  // @sparticuz/chromium is for Linux x64 only; elsewhere Playwright's own browser is used.
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const version = chromiumVersion()
  const cache = join(cacheFolder, `intercept-chromium-${version}`)
  const path = join(cache, 'chromium')
  if (!existsSync(path)) await unpackInto(cache)
  return path
}

/** Unpacks Chromium to another folder and renames that, so that no concurrent test run sees half a browser. */
async function unpackInto(cache: string): Promise<void> {
  const before = process.env['TMPDIR']
  const aside = mkdtempSync(join(cacheFolder, 'intercept-chromium-new-'))
  process.env['TMPDIR'] = aside
  try {
    const { default: chromium } = await import('@sparticuz/chromium')
    await chromium.executablePath()
    mkdirSync(join(aside, '.config'), { recursive: true })
    try {
      renameSync(aside, cache)
    } catch (error) {
      if (!existsSync(join(cache, 'chromium'))) throw error
      rmSync(aside, { recursive: true })
    }
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

function chromiumVersion(): string {
  const require = createRequire(import.meta.url)
  const entry = require.resolve('@sparticuz/chromium')
  const manifest: unknown = require(join(entry, '..', '..', 'package.json'))
  return (manifest as { version: string }).version
}
