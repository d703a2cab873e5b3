import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Problem } from '../errors.ts'
import type { App, AppReply } from '../http/index.ts'
import { chooseEncoding, isStale, readPageFiles, type PageFile } from './pages-files.ts'

/** The paths of the dashboard's pages; every other path has its own handler or gets a plain 404. */
const pages = [
  '/',
  '/sign-in',
  '/setup',
  '/welcome',
  '/you',
  '/invitations/:token',
  '/o/:organization',
  '/o/:organization/*',
]
const rootFiles = ['/start.js', '/favicon.svg']
const buildTimeoutMs = 120_000

/** The content security policy of our pages: nothing inline, nothing foreign, and no text turned into script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const meanwhile = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="2"><title>Intercept</title>
<h1>The dashboard is being built</h1><p>This happens after a fresh checkout and takes a few seconds. This page goes on by itself.</p></html>`
const missing = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Intercept</title>
<h1>The dashboard is not built</h1><p>The files of the dashboard are missing. Build them with <code>npx vite build web</code>, then start again. Everything else works: <code>npx interceptd help</code>.</p></html>`

/**
 * Serves the dashboard: its hashed files, and one static shell for all pages, which asks the server who is signed in.
 * The server never redirects a document request to sign-in, because the SameSite=Strict cookie may be missing from it.
 */
export function addPages(app: App, deps: PagesDeps & { readonly baseUrl: string }): void {
  const headers = pageHeaders(deps.baseUrl)
  const fileHeaders = assetHeaders(deps.baseUrl)
  const built = new BuiltPages(deps)

  for (const address of pages) {
    app.get(address, async (request, reply) => {
      const shell = await built.find('/index.html')
      reply.headers(headers)
      if (shell === undefined) {
        reply
          .header('Cache-Control', 'no-store')
          .header('Retry-After', '2')
          .type('text/html; charset=utf-8')
        return reply.code(503).send(built.isBuilding ? meanwhile : missing)
      }
      reply.header('Cache-Control', 'no-cache')
      return sendFile(shell, request.headers, reply)
    })
  }

  for (const address of [...rootFiles, '/assets/*']) {
    app.get(address, async (request, reply) => {
      const file = await built.find(request.url.split('?', 1)[0] ?? '')
      if (file === undefined) throw new Problem('not_found')
      reply.headers(file.hashed ? fileHeaders : headers)
      reply.header(
        'Cache-Control',
        file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
      return sendFile(file, request.headers, reply)
    })
  }
}

interface PagesDeps {
  /** The product's `web` folder. */
  readonly webFolder: string
  readonly log: {
    info(fields: object, text: string): void
    error(fields: object, text: string): void
  }
}

/** The dashboard's files in memory; if a checkout has none, or outdated ones, they are built in the background. */
class BuiltPages {
  readonly #deps: PagesDeps
  readonly #firstRead: Promise<void>
  #files: ReadonlyMap<string, PageFile> | undefined
  #isBuilding = false

  constructor(deps: PagesDeps) {
    this.#deps = deps
    this.#firstRead = this.#read()
    void this.#firstRead.then(async () => await this.#buildIfStale())
  }

  get isBuilding(): boolean {
    return this.#isBuilding
  }

  async find(path: string): Promise<PageFile | undefined> {
    await this.#firstRead
    if (this.#files === undefined && !this.#isBuilding) await this.#read()
    return this.#files?.get(path)
  }

  async #read(): Promise<void> {
    // Reading fails while another process replaces the build; a later request then reads it again.
    this.#files = await readPageFiles(join(this.#deps.webFolder, 'dist')).catch(() => undefined)
  }

  async #buildIfStale(): Promise<void> {
    const { webFolder, log } = this.#deps
    // This is set before the check, so that a request during the check is told that the dashboard is being built, not
    // that its files are missing.
    this.#isBuilding = true
    try {
      if (!(await isStale(webFolder))) return await this.#read()
      log.info({}, 'building the dashboard in the background')
      await build(webFolder)
      await this.#read()
    } catch (error) {
      log.error({ err: error }, 'the dashboard could not be built')
    } finally {
      this.#isBuilding = false
    }
  }
}

function sendFile(
  file: PageFile,
  head: {
    readonly 'accept-encoding'?: string | string[] | undefined
    readonly 'if-none-match'?: string | undefined
  },
  reply: AppReply,
): AppReply {
  reply.header('ETag', file.etag).header('Vary', 'Accept-Encoding')
  if (head['if-none-match'] === file.etag) return reply.code(304).send()
  const { encoding, bytes } = chooseEncoding(file, String(head['accept-encoding'] ?? ''))
  if (encoding !== undefined) reply.header('Content-Encoding', encoding)
  return reply.type(file.type).send(bytes)
}

function pageHeaders(baseUrl: string): Record<string, string> {
  return {
    'Content-Security-Policy': contentSecurityPolicy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // The URLs of setup and invitation links contain a token, which must not leak in a Referer header.
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...transportSecurity(baseUrl),
  }
}

/**
 * Returns the headers for scripts, styles and fonts, without those that only affect documents and would just make each
 * response larger.
 */
function assetHeaders(baseUrl: string): Record<string, string> {
  return {
    'Content-Security-Policy': "default-src 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...transportSecurity(baseUrl),
  }
}

function transportSecurity(baseUrl: string): Record<string, string> {
  return baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=63072000' } : {}
}

/**
 * Builds in a separate process, so that the server keeps responding and the build's 300 MB of memory are freed at its
 * end.
 */
async function build(webFolder: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const builder = spawn(process.execPath, [join(webFolder, 'build.ts')], {
    stdio: 'ignore',
    timeout: buildTimeoutMs,
  })
  const endWithUs = () => void builder.kill()
  process.once('exit', endWithUs)
  builder.once('error', reject)
  builder.once('exit', (code, signal) =>
    code === 0 ? resolve() : reject(new Error(`the build ended with ${code ?? signal}`)),
  )
  try {
    await promise
  } finally {
    process.off('exit', endWithUs)
  }
}
