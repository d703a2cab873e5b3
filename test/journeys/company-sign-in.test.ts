import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { freshDashboard } from '../harness/dashboard.ts'
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
    readonly sso_required: boolean
  }[]
}

describe('the company sign-in with a real browser and a real OpenID provider', () => {
  let parts: SignInProduct
  let browser: TestBrowser
  let owner: Person
  let idp: TestIdp
  let connection: Connected
  /** The provider of an organization whose directory decides who is a member. */
  let dirIdp: TestIdp
  let dirToken: string

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
        // The fake GitHub has an account with this address.
        { subject: 'c-ada', email: 'ada.github@corp.test', emailVerified: true, name: 'Ada' },
        { subject: 'c-foreign', email: 'x@elsewhere.test', emailVerified: true, name: 'X' },
      ],
    })
    idp = corp.idp
    connection = corp.connection
    await command(product, 'org create directed --plan enterprise')
    const directed = await connectedIdp(product, {
      organization: 'directed',
      domain: 'dir.test',
      people: [
        { subject: 'd-hedy', email: 'hedy@dir.test', emailVerified: true, name: 'Hedy at the IdP' },
        { subject: 'd-iris', email: 'iris@dir.test', emailVerified: true, name: 'Iris' },
      ],
    })
    dirIdp = directed.idp
    const issued = await command<{ secret: string }>(product, 'scim token issue directed')
    dirToken = issued.secret
    const body = { email: 'ada.github@corp.test', role: 'developer' }
    assert.equal((await owner.call('POST /organizations/acme/invitations', body)).status, 201)
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
    await dirIdp[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  async function visit(): Promise<Visitor> {
    return await browser.visit({
      origin: parts.product.baseUrl,
      alsoAllow: [idp.issuer, dirIdp.issuer, parts.github.url],
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
    assert.deepEqual(await sessionsIn(visitor), [])
  })

  test('somebody who signs in with GitHub already confirms from there, and then has both', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const { baseUrl } = parts.product
    // First, Ada joins with GitHub.
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

    // From now on, signing in through the company is enough.
    await visitor.context.clearCookies()
    await page.goto(byEmail('ada.github@corp.test'))
    await page.getByLabel('Login').fill('ada.github@corp.test')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    assert.equal((await me(visitor)).name, 'Ada at GitHub')
  })

  test('signing out ends the session at the provider too, which sends the browser back to the sign-in page', async () => {
    freshDashboard()
    const { baseUrl } = parts.product
    const path = `PATCH /organizations/acme/connections/${connection.id}`
    const again = await owner.call(path, { ends_provider_session: true })
    assert.equal(again.status, 200, again.text)
    await using visitor = await visit()
    const { page } = visitor
    await signIn(visitor, 'new@corp.test', byEmail('new@corp.test'))
    await page.waitForURL(`${baseUrl}/docs`)
    // As long as the person has a session at the provider, signing in again shows no form there.
    await page.goto(byEmail('new@corp.test'))
    await page.waitForURL(`${baseUrl}/docs`)

    await page.goto(`${baseUrl}/o/acme`)
    await page.getByRole('button', { name: 'Nora New' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(new RegExp(`^${idp.issuer}/session/end\\?.*id_token_hint=`))
    assert.deepEqual(await sessionsIn(visitor), [])
    await page.getByRole('button', { name: /yes/i }).click()
    await page.waitForURL(`${baseUrl}/sign-in`)
    await page.goto(byEmail('new@corp.test'))
    await page.getByLabel('Login').waitFor()
  })

  test('SCIM first: who the directory has sent signs in as that member, others do not, and its end is theirs at once', async () => {
    const { baseUrl } = parts.product
    const scim = async (method: string, path: string, body: object) =>
      await fetch(`${baseUrl}/scim/v2${path}`, {
        method,
        headers: {
          authorization: `Bearer ${dirToken}`,
          'content-type': 'application/scim+json',
        },
        body: JSON.stringify(body),
      })
    const setActive = async (id: string, active: boolean) => {
      const answer = await scim('PATCH', `/Users/${id}`, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', value: { active } }],
      })
      assert.equal(answer.status, 200, await answer.text())
    }
    const made = await scim('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'Hedy@dir.test',
      displayName: 'Hedy Directory',
      active: true,
    })
    assert.equal(made.status, 201)
    const { id } = (await made.json()) as { id: string }

    await using stranger = await visit()
    await signIn(stranger, 'iris@dir.test', byEmail('iris@dir.test'))
    await stranger.page.waitForURL(/callback/)
    assert.match((await stranger.page.textContent('main')) ?? '', /sso_not_admitted/)
    assert.deepEqual(await sessionsIn(stranger), [])

    await using visitor = await visit()
    await signIn(visitor, 'hedy@dir.test', byEmail('hedy@dir.test'))
    await visitor.page.waitForURL(`${baseUrl}/docs`)
    const who = await me(visitor)
    assert.equal(who.name, 'Hedy Directory')
    assert.deepEqual(
      who.organizations.map(({ slug, role }) => [slug, role]),
      [['directed', 'viewer']],
    )
    const members = await command<{ id: string; email: string }[]>(
      parts.product,
      'member list directed',
    )
    assert.ok(members.some((one) => one.id === id))

    await setActive(id, false)
    const ended = await visitor.context.request.get(`${baseUrl}/api/v1/me`)
    assert.equal(ended.status(), 401)
    await visitor.context.clearCookies()
    await signIn(visitor, 'hedy@dir.test', byEmail('hedy@dir.test'))
    await visitor.page.waitForURL(/callback/)
    assert.match((await visitor.page.textContent('main')) ?? '', /sso_membership_ended/)
    assert.deepEqual(await sessionsIn(visitor), [])

    // A reactivated person gets the same account back.
    await setActive(id, true)
    await visitor.context.clearCookies()
    await signIn(visitor, 'hedy@dir.test', byEmail('hedy@dir.test'))
    await visitor.page.waitForURL(`${baseUrl}/docs`)
    assert.equal((await me(visitor)).name, 'Hedy Directory')
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
    assert.deepEqual(await sessionsIn(visitor), [])
    const { json } = await owner.call(`GET ${path}/${started.json.id}`)
    assert.equal(json.passed, true)
    assert.deepEqual(
      json.lines.map((line: { outcome: string }) => line.outcome),
      Array.from({ length: 7 }, () => 'passed'),
    )
    assert.equal(json.person.email, 'new@corp.test')
    assert.match(json.lines.at(-1).sentence, /Would be signed in as Nora New/)
    const shown = await owner.call(`GET /organizations/acme/connections/${connection.id}`)
    assert.notEqual(shown.json.tested_at, null)
    // The test is finished: its URL no longer starts a sign-in.
    const again = await visitor.page.goto(started.json.address as string)
    assert.equal(again?.status(), 404)
  })

  test('where SSO is required, GitHub reaches nothing here, the company sign-in and the break-glass owner do', async () => {
    const ownerId = (await owner.call('GET /me')).json.id as string
    const set = async (required: boolean, breakGlass: string[]) =>
      await owner.call('PUT /organizations/acme/sso', { required, break_glass: breakGlass })
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
    assert.equal((await me(visitor)).organizations[0]?.sso_required, true)
    const change = await visitor.context.request.put(`${baseUrl}/api/v1/organizations/acme/sso`, {
      data: { required: false, break_glass: [] },
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

/** Lists the names of a browser's session cookies; empty while nobody is signed in. */
async function sessionsIn({ context }: Visitor): Promise<string[]> {
  const names = (await context.cookies()).map(({ name }) => name)
  return names.filter((name) => name === '__Host-session')
}
