import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TxtAnswer } from '../../src/http/index.ts'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { idpForTests, type TestIdp } from '../harness/idp.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { command } from '../harness/sso.ts'
import { scimCall } from '../conformance/scim/directory.ts'

const minuteMs = 60_000

describe('SSO in the dashboard', { timeout: 240_000 }, () => {
  const zone = new Map<string, TxtAnswer>()
  let product: TestProduct
  let browser: TestBrowser
  let owner: Person
  let idp: TestIdp

  before(async () => {
    freshDashboard()
    product = await productForTests({
      resolveTxt: async (name) => zone.get(name) ?? { kind: 'none' },
    })
    owner = await firstOwner(product)
    browser = await browserForTests()
    idp = await idpForTests({
      people: [
        {
          subject: 'c-ada',
          email: 'ada@corp.test',
          emailVerified: true,
          name: 'Ada Corp',
          claims: { groups: ['everyone', 'platform'] },
        },
        { subject: 'c-unproven', email: 'una@corp.test', emailVerified: false, name: 'Una' },
      ],
    })
  })
  after(async () => {
    await idp[Symbol.asyncDispose]()
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(
    more: { colorScheme?: 'light' | 'dark'; width?: number; expected?: readonly RegExp[] } = {},
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    const { expected = [], ...rest } = more
    return await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      link,
      alsoAllow: [idp.issuer],
      expected,
      ...rest,
    })
  }
  const tab = (name: string): string => `${product.baseUrl}/o/acme/sso?tab=${name}`

  test('the plan that lacks it is said in one sentence with the command that adds it', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(tab('domains'))
    await page.getByText('Single sign-on and SCIM need the enterprise plan').waitFor()
    await checkState(visitor, 'sso-plan-light')
    const shown = await page
      .getByRole('group', { name: 'command that changes the plan' })
      .textContent()
    assert.equal(shown, 'npx interceptd org set-plan acme enterprise')
    await command(product, (shown ?? '').replace('npx interceptd ', ''))
    await page.reload()
    await page.getByRole('tab', { name: 'Domains' }).waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('a domain is proven by its TXT record, and a record at the wrong place is told from none', async () => {
    await using visitor = await visit({ expected: [/status of 400/] })
    const { page } = visitor
    await page.goto(tab('domains'))
    await page.getByRole('textbox', { name: 'Domain' }).fill('gmail.com')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('link', { name: 'domain_public' }).waitFor()
    await page.getByRole('textbox', { name: 'Domain' }).fill('corp.test')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByText('Waiting for the DNS').first().waitFor()
    const [domain] = (await owner.call('GET /organizations/acme/domains')).json.items
    const { name, value } = domain.record as { name: string; value: string }
    await page.getByText(value).waitFor()
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText(`There is no TXT record at ${name}.`).waitFor()
    zone.set(`${name}.corp.test`, { kind: 'records', texts: [value] })
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('your DNS panel added the zone').waitFor()
    await checkState(visitor, 'sso-domain-light')
    zone.set(name, { kind: 'records', texts: [value] })
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('Verified by its TXT record').waitFor()
    await page.getByText('1 domain verified').waitFor()
    await checkState(visitor, 'sso-domain-verified-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('a provider is connected with the addresses that were shown before, and its test shows each check and the claims', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(tab('connection'))
    await page.getByRole('button', { name: 'Other OpenID Connect' }).click()
    const redirect = await page.getByText(/\/api\/v1\/auth\/sso\/con_\w+\/callback/).textContent()
    idp.allowRedirect(redirect ?? '')
    await page.getByLabel('Issuer').fill(idp.issuer)
    await page.getByText('The issuer answers').waitFor()
    await page.getByLabel('Client id').fill(idp.clientId)
    await page.getByLabel('Client secret').fill(idp.clientSecret)
    await checkState(visitor, 'sso-connect-dark')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('Not tested', { exact: true }).waitFor()
    const [connection] = (await owner.call('GET /organizations/acme/connections')).json.items
    assert.equal(connection.redirect_uri, redirect)

    await walkTest(page, 'una@corp.test')
    await page.getByText('The test stopped').waitFor()
    await checkState(visitor, 'sso-test-failed-dark')
    // Sign the person out at the provider, so that somebody else can sign in there.
    await visitor.context.clearCookies({ domain: '127.0.0.1' })
    await walkTest(page, 'ada@corp.test')
    await page.getByText('Every check passed').waitFor()
    await page.getByText('ada@corp.test (verified)').waitFor()
    await page.getByText('everyone, platform').waitFor()
    await checkState(visitor, 'sso-test-passed-dark')
    await page.reload()
    await page.getByText('Every check passed').waitFor()
    const me = await visitor.context.request.get(`${product.baseUrl}/api/v1/me`)
    assert.equal(((await me.json()) as { name: string }).name, 'Olga Owner', 'nobody was signed in')
    assert.deepEqual(visitor.findings, [])
  })

  test('SSO can be required only once a test passed and an owner is excepted', async () => {
    await using visitor = await visit({ width: 390 })
    const { page } = visitor
    await page.goto(tab('connection'))
    const requires = page.getByRole('switch')
    await requires.waitFor()
    assert.ok(await requires.isDisabled(), 'no owner is chosen yet')
    await page.getByRole('checkbox', { name: /Olga Owner/ }).check()
    await checkState(visitor, 'sso-policy-narrow')
    await requires.click()
    const dialog = page.getByRole('alertdialog', { name: 'Require the company sign-in?' })
    await dialog.getByRole('button', { name: 'Require SSO' }).click()
    await page.getByText('SSO is required').waitFor()
    const policy = (await owner.call('GET /organizations/acme/sso')).json
    assert.equal(policy.required, true)
    assert.deepEqual(
      policy.break_glass.map((one: { name: string }) => one.name),
      ['Olga Owner'],
    )
    assert.deepEqual(visitor.findings, [])
  })

  test('an hour after the last test the switch says that a test is missing', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const policy = { required: false, break_glass: [] }
    assert.equal((await owner.call('PUT /organizations/acme/sso', policy)).status, 200)
    await page.clock.install({ time: Date.now() + 61 * minuteMs })
    await page.goto(tab('connection'))
    await page.getByText('It can be switched on within an hour after a test passed.').waitFor()
    assert.ok(await page.getByRole('switch').isDisabled())
    assert.deepEqual(visitor.findings, [])
  })

  test('a SCIM token is shown once; what the directory sends appears by itself; a group gives a role after a preview; a deactivated person is signed out in an open tab', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(tab('directory'))
    await page.getByText('Nothing has come yet').waitFor()
    await page.getByRole('button', { name: 'Issue token' }).click()
    const asking = page.getByRole('dialog', { name: 'Issue a SCIM token' })
    await asking.getByLabel('Name').fill('Okta production')
    await asking.getByRole('button', { name: 'Issue token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy the token now' })
    const token = (await dialog.locator('[data-secret]').textContent()) ?? ''
    await checkState(visitor, 'scim-token-light')
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('gridcell', { name: 'Okta production' }).waitFor()
    assert.ok(!(await page.content()).includes(token), 'the token is still in the page')

    const user = await pushLikeOkta(product, token)
    await page.getByRole('gridcell', { name: 'Dora Directory' }).waitFor()
    await page.getByText('GET /Users?filter=').first().waitFor()
    await page.getByText('POST /Groups').first().waitFor()
    await page.getByText('409', { exact: true }).waitFor()
    await checkState(visitor, 'scim-directory-light')

    await page.getByRole('tab', { name: 'Roles' }).click()
    await page.getByLabel('Role of platform').selectOption({ label: 'Developer' })
    const preview = page.getByRole('dialog', { name: 'Change the role of platform?' })
    await preview.getByText('This changes 1 person:').waitFor()
    await preview.getByText('Viewer → Developer').waitFor()
    await checkState(visitor, 'scim-role-preview-light')
    await preview.getByRole('button', { name: 'Change role' }).click()
    await page.getByText('Role changed for 1 person').first().waitFor()
    await page.getByRole('tab', { name: 'Roles' }).waitFor()
    await checkState(visitor, 'scim-roles-light')

    const link = await withLinks(product, async (links) => await links.signInLink('dora@corp.test'))
    await using dora = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      link,
      expected: [/401 \(Unauthorized\)/],
    })
    await dora.page.goto(`${product.baseUrl}/o/acme/keys`)
    await dora.page.getByText('No keys yet').waitFor()
    const ended = await scim(product, token, 'PATCH', `/Users/${user}`, {
      schemas: [patchUrn],
      Operations: [{ op: 'replace', value: { active: false } }],
    })
    assert.equal(ended.status, 200)
    await dora.page.getByRole('dialog', { name: 'You are signed out' }).waitFor()
    await checkState(dora, 'scim-signed-out-light')
    await page.getByRole('tab', { name: 'Directory' }).click()
    await page.getByText('Deactivated').waitFor()
    assert.deepEqual([...visitor.findings, ...dora.findings], [])
  })
})

const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** Sends what Okta sends for a connection test, an assigned person and a pushed group; returns the person's user id. */
async function pushLikeOkta(product: TestProduct, token: string): Promise<string> {
  const send = async (method: string, path: string, body?: object) =>
    await scim(product, token, method, path, body)
  const wanted = encodeURIComponent('userName eq "dora@corp.test"')
  const none = await send('GET', `/Users?filter=${wanted}&startIndex=1&count=100`)
  assert.equal(none.body.totalResults, 0)
  const dora = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'dora@corp.test',
    name: { givenName: 'Dora', familyName: 'Directory' },
    emails: [{ primary: true, value: 'dora@corp.test', type: 'work' }],
    displayName: 'Dora Directory',
    externalId: '00u1',
    groups: [],
    active: true,
  }
  const made = await send('POST', '/Users', dora)
  assert.equal(made.status, 201)
  assert.equal((await send('POST', '/Users', dora)).status, 409, 'the same person twice')
  const group = await send('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'platform',
    members: [{ value: made.body.id, display: 'dora@corp.test' }],
  })
  assert.equal(group.status, 201)
  return String(made.body.id)
}

async function scim(
  product: TestProduct,
  token: string,
  method: string,
  path: string,
  body?: object,
) {
  const url = `${product.baseUrl}/scim/v2${path}`
  const headers = { 'user-agent': 'Okta SCIM Client 1.0.0' }
  return await scimCall(url, method, { token, body, headers })
}

/** Runs a connection test: signs a person in at the provider, in the window that the button opens. */
async function walkTest(page: Page, login: string): Promise<void> {
  const opening = page.waitForEvent('popup')
  await page.getByRole('button', { name: /^Test( again)?$/ }).click()
  const popup = await opening
  await popup.getByLabel('Login').fill(login)
  await popup.getByRole('button', { name: 'Sign in' }).click()
  await popup.waitForURL(/callback/)
  await popup.close()
}
