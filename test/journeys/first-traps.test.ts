import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, personWith, withLinks } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

describe('what newcomers run into', { timeout: 120_000 }, () => {
  let browser: TestBrowser
  before(async () => {
    freshDashboard()
    browser = await browserForTests()
  })
  after(async () => await browser[Symbol.asyncDispose]())

  test('set-up with the name of an organization that exists takes nothing over until somebody says so', async () => {
    await using product = await productForTests()
    const made = await intercept(['org', 'create', 'acme'], { env: { ...product.env } })
    assert.equal(made.code, 0, made.err)
    const link = (await withLinks(product, async (links) => await links.setupLink())) ?? ''
    const person = personWith(product.baseUrl)
    const input = {
      token: new URL(link).searchParams.get('token'),
      ...{ name: 'Olga', email: 'olga@acme.test' },
      organization: { slug: 'acme' },
    }
    const refused = await person.call('POST /setup', input)
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])

    await using visitor = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      expected: [/status of 4\d\d/],
    })
    const { page } = visitor
    await page.goto(link)
    await page.getByLabel('Name', { exact: true }).fill('Olga Owner')
    await page.getByLabel('E-mail').fill('olga@acme.test')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('Name of the organization').fill('Acme')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByText('There is an organization acme already').waitFor()
    await checkState(visitor, 'setup-taken-light')
    await page.getByRole('button', { name: 'Become the owner of acme' }).click()
    await page.getByText('What do you want to guard?').waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('before inviting it is said that nobody could sign in, and the invited person learns what to ask for', async () => {
    await using product = await productForTests()
    const owner = await firstOwner(product)
    const ways = await owner.call('GET /organizations/acme/invitations/ways-in')
    assert.deepEqual(ways.json, { providers: [], company: false })
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    await using olga = await visitDashboard(browser, { baseUrl: product.baseUrl, link })
    await olga.page.goto(`${product.baseUrl}/o/acme/members`)
    await olga.page.getByRole('button', { name: 'Invite' }).first().click()
    await olga.page.getByText('They could not sign in yet').waitFor()
    await checkState(olga, 'invite-no-way-light')

    const input = { email: 'ada@corp.test', role: 'viewer' }
    const invited = await owner.call('POST /organizations/acme/invitations', input)
    await using ada = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      expected: [/401 \(Unauthorized\)/],
    })
    await ada.page.goto(String(invited.json.link))
    await ada.page.getByText('No sign-in is set up here yet').waitFor()
    await ada.page.getByText(/interceptd sign-in-link ada@corp\.test/).waitFor()
    await checkState(ada, 'invitation-no-way-light')
    assert.deepEqual([...olga.findings, ...ada.findings], [])
  })
})
