import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import type { TestIdp } from '../harness/idp.ts'
import { firstOwner, type Person } from '../harness/person.ts'
import { signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'
import { command, connectedIdp, type Connected } from '../harness/sso.ts'

interface Me {
  readonly name: string
  readonly session: { readonly provider: string }
  readonly organizations: {
    readonly slug: string
    readonly role: string
    readonly ssoRequired: boolean
  }[]
}

describe('the company sign-in with a real browser and a real OpenID provider', () => {
  let parts: SignInProduct
  let browser: TestBrowser
  let owner: Person
  let idp: TestIdp
  let connection: Connected

  before(async () => {
    parts = await signInProductForTests()
    browser = await browserForTests()
    const { product } = parts
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    const corp = await connectedIdp(product, {
      organization: 'acme',
      domain: 'corp.test',
      people: [
        { subject: 'c-new', email: 'new@corp.test', emailVerified: true, name: 'Nora New' },
        // The GitHub look-alike knows somebody with this address.
        { subject: 'c-ada', email: 'ada.github@corp.test', emailVerified: true, name: 'Ada' },
        { subject: 'c-foreign', email: 'x@elsewhere.test', emailVerified: true, name: 'X' },
      ],
    })
    idp = corp.idp
    connection = corp.connection
    const body = { email: 'ada.github@corp.test', role: 'developer' }
    assert.equal((await owner.call('POST /organizations/acme/invitations', body)).status, 201)
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  async function visit(): Promise<Visitor> {
    return await browser.visit({
      origin: parts.product.baseUrl,
      alsoAllow: [idp.issuer, parts.github.url],
      expected: [/Failed to load resource/],
    })
  }
  async function signIn(visitor: Visitor, login: string, at: string): Promise<void> {
    await visitor.page.goto(at)
    await visitor.page.getByLabel('Login').fill(login)
    await visitor.page.getByRole('button', { name: 'Sign in' }).click()
  }
  const byEmail = (email: string): string =>
    `${parts.product.baseUrl}/api/v1/auth/sso/login?email=${encodeURIComponent(email)}&return_to=/docs`
  async function me(visitor: Visitor): Promise<Me> {
    const answer = await visitor.context.request.get(`${parts.product.baseUrl}/api/v1/me`)
    return (await answer.json()) as Me
  }

  test('somebody new at a verified domain signs in by e-mail address and is a viewer of this organization', async () => {
    await using visitor = await visit()
    await signIn(visitor, 'new@corp.test', byEmail('new@corp.test'))
    await visitor.page.waitForURL(`${parts.product.baseUrl}/docs`)
    const who = await me(visitor)
    assert.equal(who.name, 'Nora New')
    assert.equal(who.session.provider, 'sso')
    assert.deepEqual(
      who.organizations.map(({ slug, role }) => [slug, role]),
      [['acme', 'viewer']],
    )
    const [session] = (await visitor.context.cookies()).filter(
      ({ name }) => name === '__Host-session',
    )
    assert.equal(session?.sameSite, 'Strict')
    assert.deepEqual(visitor.findings, [])
  })

  test('the address field of the provider is filled, and an address outside verified domains is refused on a page', async () => {
    await using visitor = await visit()
    const start = `${parts.product.baseUrl}/api/v1/auth/sso/login?organization=acme`
    await signIn(visitor, 'x@elsewhere.test', start)
    await visitor.page.waitForURL(/callback/)
    assert.match((await visitor.page.textContent('main')) ?? '', /sso_domain_mismatch/)
    assert.deepEqual(await visitor.context.cookies(parts.product.baseUrl), [])
  })

  test('somebody who signs in with GitHub already confirms from there, and then has both', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const { baseUrl } = parts.product
    // First, ada joins with GitHub.
    await page.goto(`${baseUrl}/api/v1/auth/github/login?return_to=/docs`)
    await page.getByLabel('Login').fill('ada')
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    await visitor.context.clearCookies()

    await signIn(visitor, 'ada.github@corp.test', byEmail('ada.github@corp.test'))
    await page.waitForURL(/callback/)
    assert.match((await page.textContent('main')) ?? '', /There is an account/)
    const before = await visitor.context.cookies(baseUrl)
    assert.ok(!before.some(({ name }) => name === '__Host-session'))

    await page.getByText('Continue with GitHub').click()
    await page.getByLabel('Login').fill('ada')
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.waitForURL(/sso\/confirm/)
    await page.getByRole('button', { name: 'Yes, this is me' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    const who = await me(visitor)
    assert.equal(who.name, 'Ada at GitHub')
    assert.equal(who.session.provider, 'sso')
    assert.equal(who.organizations[0]?.role, 'developer')

    // From now on the company sign-in is enough.
    await visitor.context.clearCookies()
    await page.goto(byEmail('ada.github@corp.test'))
    await page.getByLabel('Login').fill('ada.github@corp.test')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    assert.equal((await me(visitor)).name, 'Ada at GitHub')
  })

  test('the provider can start the sign-in; it ends at the address that it names, if that is ours', async () => {
    await using visitor = await visit()
    const { baseUrl } = parts.product
    const query = new URLSearchParams({ iss: idp.issuer, target_link_uri: `${baseUrl}/docs` })
    await signIn(visitor, 'new@corp.test', `${connection.initiate_login_uri}?${query.toString()}`)
    await visitor.page.waitForURL(`${baseUrl}/docs`)
    assert.equal((await me(visitor)).session.provider, 'sso')
  })

  test('a test of the connection walks and explains every step, and signs nobody in', async () => {
    const path = `/organizations/acme/connections/${connection.id}/tests`
    const started = await owner.call(`POST ${path}`)
    assert.equal(started.status, 201)
    await using visitor = await visit()
    await signIn(visitor, 'new@corp.test', started.json.address as string)
    await visitor.page.waitForURL(/callback/)
    assert.match((await visitor.page.textContent('main')) ?? '', /The test has passed/)
    assert.deepEqual(await visitor.context.cookies(parts.product.baseUrl), [])
    const { json } = await owner.call(`GET ${path}/${started.json.id}`)
    assert.equal(json.passed, true)
    assert.deepEqual(
      json.lines.map((line: { outcome: string }) => line.outcome),
      Array.from({ length: 7 }, () => 'passed'),
    )
    assert.equal(json.person.email, 'new@corp.test')
    assert.match(json.lines.at(-1).sentence, /Would be signed in as Nora New/)
    const shown = await owner.call(`GET /organizations/acme/connections/${connection.id}`)
    assert.notEqual(shown.json.testedAt, null)
    // It is over: the address starts nothing any more.
    const again = await visitor.page.goto(started.json.address as string)
    assert.equal(again?.status(), 404)
  })

  test('O11: where SSO is required, GitHub reaches nothing here, the company sign-in and the break-glass owner do', async () => {
    const ownerId = (await owner.call('GET /me')).json.id as string
    const set = async (required: boolean, breakGlass: string[]) =>
      await owner.call('PUT /organizations/acme/sso', { required, breakGlass })
    assert.equal((await set(true, [])).status, 409)
    assert.equal((await set(true, [ownerId])).status, 200)

    await using visitor = await visit()
    const { page } = visitor
    const { baseUrl } = parts.product
    await page.goto(`${baseUrl}/api/v1/auth/github/login?return_to=/docs`)
    await page.getByLabel('Login').fill('ada')
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    const refused = await visitor.context.request.get(`${baseUrl}/api/v1/organizations/acme`)
    assert.equal(refused.status(), 403)
    assert.equal(((await refused.json()) as { code: string }).code, 'sso_required')
    assert.equal((await me(visitor)).organizations[0]?.ssoRequired, true)
    const change = await visitor.context.request.put(`${baseUrl}/api/v1/organizations/acme/sso`, {
      data: { required: false, breakGlass: [] },
      headers: { origin: baseUrl },
    })
    assert.equal(change.status(), 403)

    await visitor.context.clearCookies()
    await signIn(visitor, 'ada.github@corp.test', byEmail('ada.github@corp.test'))
    await page.waitForURL(`${baseUrl}/docs`)
    const reached = await visitor.context.request.get(`${baseUrl}/api/v1/organizations/acme`)
    assert.equal(reached.status(), 200)
    assert.equal((await owner.call('GET /organizations/acme')).status, 200)
    assert.equal((await set(false, [ownerId])).status, 200)
  })
})
