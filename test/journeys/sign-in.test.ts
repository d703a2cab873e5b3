import assert from 'node:assert/strict'
import type { Request } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'

describe('signing in with a real browser', () => {
  let parts: SignInProduct
  let browser: TestBrowser
  let owner: Person
  before(async () => {
    parts = await signInProductForTests()
    browser = await browserForTests()
    owner = await firstOwner(parts.product)
    for (const email of ['ada@corp.test', 'ada.github@corp.test']) {
      const body = { email, role: 'developer' }
      const invited = await owner.call('POST /organizations/acme/invitations', body)
      assert.equal(invited.status, 201)
    }
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  async function visit(): Promise<Visitor> {
    return await browser.visit({
      origin: parts.product.baseUrl,
      alsoAllow: [parts.idp.issuer, parts.github.url],
      // The dashboard's pages are not part of this test, so they may fail to load.
      expected: [/Failed to load resource/],
    })
  }

  const ways = [
    { provider: 'google', login: 'ada@corp.test', button: 'Sign in', name: 'Ada' },
    { provider: 'github', login: 'ada', button: 'Authorize', name: 'Ada at GitHub' },
  ]
  for (const { provider, login, button, name } of ways) {
    test(`a whole sign-in through ${provider} ends signed in, with the Strict cookie sent on the landing navigation`, async () => {
      await using visitor = await visit()
      const { page } = visitor
      const { baseUrl } = parts.product
      const navigations: Request[] = []
      page.on('request', (request) => {
        if (request.isNavigationRequest()) navigations.push(request)
      })
      await page.goto(`${baseUrl}/api/v1/auth/${provider}/login?return_to=/docs`)
      await page.getByLabel('Login').fill(login)
      await page.getByRole('button', { name: button }).click()
      await page.waitForURL(`${baseUrl}/docs`)
      const landing = navigations.at(-1)
      const headers = (await landing?.allHeaders()) ?? {}
      assert.match(headers['cookie'] ?? '', /__Host-session=/)
      const me = await page
        .evaluate(async () => {
          const answer = await fetch('/api/v1/me')
          return (await answer.json()) as { name: string; organizations: { role: string }[] }
        })
        .catch(() => undefined)
      // The page's CSP allows no requests, so the browser context makes this one.
      const asked = await visitor.context.request.get(`${baseUrl}/api/v1/me`)
      const answer = (await asked.json()) as { name: string; organizations: { role: string }[] }
      assert.equal(me, undefined)
      assert.equal(answer.name, name)
      assert.equal(answer.organizations[0]?.role, 'developer')
      const kept = await visitor.context.cookies()
      const session = kept.find((cookie) => cookie.name === '__Host-session')
      assert.equal(session?.httpOnly, true)
      assert.equal(session?.secure, true)
      assert.equal(session?.sameSite, 'Strict')
      assert.ok(!kept.some((cookie) => cookie.name === '__Host-sign-in'))
      assert.equal(await page.evaluate('document.cookie'), '')
    })
  }

  test('a sign-in works without JavaScript', async () => {
    await using visitor = await browser.visit({ javaScriptEnabled: false })
    const { page } = visitor
    await page.goto(`${parts.product.baseUrl}/api/v1/auth/github/login?return_to=/docs`)
    await page.getByLabel('Login').fill('ada')
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.waitForURL(`${parts.product.baseUrl}/docs`)
    const asked = await visitor.context.request.get(`${parts.product.baseUrl}/api/v1/me`)
    assert.equal(asked.status(), 200)
  })

  test('somebody who cancels at the provider gets a page that says so, and no session', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${parts.product.baseUrl}/api/v1/auth/google/login`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(/callback/)
    assert.match((await page.textContent('main')) ?? '', /idp_refused/)
    const kept = await visitor.context.cookies(parts.product.baseUrl)
    assert.deepEqual(
      kept.map(({ name }) => name),
      ['__Host-sign-in.refused'],
    )
    // Reloading shows the same page; trying again starts a new sign-in.
    await page.reload()
    assert.match((await page.textContent('main')) ?? '', /idp_refused/)
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
  })

  test('a printed sign-in link signs in once, by itself', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const link = await withLinks(
      parts.product,
      async (links) => await links.signInLink('olga@acme.test'),
    )
    await page.goto(link)
    await page.waitForURL(`${parts.product.baseUrl}/`)
    const asked = await visitor.context.request.get(`${parts.product.baseUrl}/api/v1/me`)
    assert.equal(((await asked.json()) as { email: string }).email, 'olga@acme.test')
    await using second = await visit()
    await second.page.goto(link)
    await second.page.waitForSelector('text=link_invalid')
    assert.deepEqual(await second.context.cookies(parts.product.baseUrl), [])
  })

  test('a browser that did not keep the cookie gets a page that says so, never a loop', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const answer = await page.goto(`${parts.product.baseUrl}/api/v1/auth/landed?return_to=/docs`)
    assert.equal(answer?.status(), 400)
    assert.match((await page.textContent('h1')) ?? '', /did not keep the sign-in cookie/)
  })

  test('a link on another site leads to a page that is signed in', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const { baseUrl } = parts.product
    await page.goto(`${baseUrl}/api/v1/auth/github/login?return_to=/docs`)
    await page.getByLabel('Login').fill('ada')
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    // The browser comes from another site: an error page of the fake GitHub, at another host.
    await page.goto(`${parts.github.url}/elsewhere`)
    await page.setContent(`<a href="${baseUrl}/docs">there</a>`)
    const [request] = await Promise.all([
      page.waitForRequest(`${baseUrl}/docs`),
      page.getByText('there').click(),
    ])
    // The document is requested without the cookie and served anyway; the page's own requests send the cookie.
    assert.ok(!((await request.allHeaders())['cookie'] ?? '').includes('__Host-session'))
    const answer = await request.response()
    assert.equal(answer?.status(), 200)
  })
})
