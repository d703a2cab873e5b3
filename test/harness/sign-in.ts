import assert from 'node:assert/strict'
import type { Engine } from '../../src/store/index.ts'
import { firstOwner, sessionOf, type Person } from './person.ts'
import { githubForTests, type TestGithub } from './github.ts'
import { idpForTests, type TestIdp } from './idp.ts'
import { productForTests, type TestProduct } from './product.ts'

export interface SignInProduct extends AsyncDisposable {
  readonly product: TestProduct
  readonly idp: TestIdp
  readonly github: TestGithub
}

/** Starts a test provider for Google, the fake GitHub, and a product configured for both. */
export async function signInProductForTests(
  options: { engine?: Engine; settings?: Readonly<Record<string, string>> } = {},
): Promise<SignInProduct> {
  const idp = await idpForTests({
    people: [
      { subject: 'g-ada', email: 'ada@corp.test', emailVerified: true, name: 'Ada' },
      { subject: 'g-unverified', email: 'victim@corp.test', emailVerified: false, name: 'Mallory' },
      { subject: 'g-absent', email: 'absent@corp.test', name: 'Absent' },
    ],
  })
  const github = await githubForTests({
    people: [
      {
        id: 42,
        login: 'ada',
        name: 'Ada at GitHub',
        emails: [{ email: 'ada.github@corp.test', primary: true, verified: true }],
      },
      {
        id: 66,
        login: 'mallory',
        emails: [
          { email: 'victim@corp.test', primary: true, verified: false },
          { email: 'mallory@evil.test', primary: false, verified: true },
        ],
      },
      {
        id: 77,
        login: 'same-mail',
        emails: [{ email: 'ada@corp.test', primary: true, verified: true }],
      },
    ],
  })
  const product = await productForTests({
    ...(options.engine ? { engine: options.engine } : {}),
    settings: {
      GITHUB_URL: github.url,
      GITHUB_API_URL: github.apiUrl,
      GITHUB_CLIENT_ID: github.clientId,
      GITHUB_CLIENT_SECRET: github.clientSecret,
      GOOGLE_ISSUER: idp.issuer,
      GOOGLE_CLIENT_ID: idp.clientId,
      GOOGLE_CLIENT_SECRET: idp.clientSecret,
      ...options.settings,
    },
  })
  const authUrl = options.settings?.['AUTH_URL'] ?? product.baseUrl
  idp.allowRedirect(`${authUrl}/api/v1/auth/google/callback`)
  return {
    product,
    idp,
    github,
    [Symbol.asyncDispose]: async () => {
      await product[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
      await github[Symbol.asyncDispose]()
    },
  }
}

/** A browser without a window: keeps cookies by name, for all hosts, and follows no redirects. */
export class Jar {
  readonly #cookies = new Map<string, string>()

  /** Requests a URL with the stored cookies, and stores the ones that are set. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`)
    if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) this.keep(line)
    return answer
  }

  /** Stores the cookie of a Set-Cookie value, or removes it if the value says Max-Age=0. */
  keep(line: string): void {
    const [pair = ''] = line.split(';')
    const at = pair.indexOf('=')
    const name = pair.slice(0, at)
    if (/max-age=0/i.test(line)) this.#cookies.delete(name)
    else this.#cookies.set(name, pair.slice(at + 1))
  }

  get(name: string): string | undefined {
    return this.#cookies.get(name)
  }

  /** Returns the cookie of the only sign-in in progress; its name and value are empty if there is none. */
  signIn(): { readonly name: string; readonly value: string } {
    const found = [...this.#cookies].filter(([name]) => name.startsWith('__Host-sign-in-'))
    const [name = '', value = ''] = found[0] ?? []
    return { name, value }
  }

  set(name: string, value: string): void {
    this.#cookies.set(name, value)
  }
}

/** Signs in to the fake GitHub and returns the callback's URL without requesting it. */
export async function atGithub(
  jar: Jar,
  { product, github }: Pick<SignInProduct, 'product' | 'github'>,
  login: string,
  query = '',
): Promise<string> {
  const start = await jar.fetch(`${product.baseUrl}/api/v1/auth/github/login${query}`)
  const asked = new URL(start.headers.get('location') ?? '')
  const form = new URLSearchParams(asked.searchParams)
  form.set('login', login)
  const back = await fetch(`${github.url}/login/oauth/authorize`, {
    method: 'POST',
    body: form,
    redirect: 'manual',
  })
  return back.headers.get('location') ?? ''
}

/** Asserts that a request ends with a refusal page: no session and (unless stated) no request to a token endpoint. */
export async function refused(
  parts: SignInProduct,
  call: () => Promise<Response>,
  expected: { status: number; code: string; tokenRequests?: number },
): Promise<void> {
  const before = parts.github.tokenRequests() + parts.idp.tokenRequests()
  const answer = await call()
  const html = await answer.text()
  assert.equal(answer.status, expected.status, html)
  assert.equal(answer.headers.get('intercept-refused'), expected.code, html)
  assert.match(answer.headers.get('content-type') ?? '', /text\/html/)
  assert.equal(sessionOf(answer.headers), undefined)
  const asked = parts.github.tokenRequests() + parts.idp.tokenRequests() - before
  assert.equal(asked, expected.tokenRequests ?? 0)
}

/** Creates the first owner, and Ada, whom the owner invited and whose account comes from her GitHub identity. */
export async function ownerWithAda(parts: SignInProduct): Promise<{
  readonly owner: Person
  invite(email: string): Promise<void>
}> {
  const owner = await firstOwner(parts.product)
  async function invite(email: string): Promise<void> {
    const body = { email, role: 'viewer' }
    const answer = await owner.call('POST /organizations/acme/invitations', body)
    assert.equal(answer.status, 201, answer.text)
  }
  await invite('ada.github@corp.test')
  const jar = new Jar()
  await jar.fetch(await atGithub(jar, parts, 'ada'))
  assert.ok(jar.get('__Host-session'))
  return { owner, invite }
}
