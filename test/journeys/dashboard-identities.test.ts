import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks } from '../harness/person.ts'
import { signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'

describe('the ways to sign in on a person’s own page', () => {
  let parts: SignInProduct
  let browser: TestBrowser

  before(async () => {
    freshDashboard()
    parts = await signInProductForTests()
    await firstOwner(parts.product)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  async function visit(expected: RegExp[] = []): Promise<Visitor> {
    const { product, github } = parts
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    const { baseUrl } = product
    return await visitDashboard(browser, { baseUrl, link, expected, alsoAllow: [github.url] })
  }

  async function addGithub({ page }: Visitor, login: string): Promise<void> {
    await page.goto(`${parts.product.baseUrl}/you`)
    await page.getByRole('link', { name: 'Add GitHub' }).click()
    await page.getByLabel('Login').fill(login)
    await page.getByRole('button', { name: 'Authorize' }).click()
  }

  test('an account at a provider is added by the person who is signed in, once they confirm it', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await addGithub(visitor, 'ada')
    const dialog = page.getByRole('dialog', { name: 'Add this way to sign in?' })
    await dialog.getByText('ada.github@corp.test').waitFor()
    await checkState(visitor, 'identity-light')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('button', { name: 'Remove GitHub' }).waitFor()
    await page.waitForURL(`${parts.product.baseUrl}/you`)
    assert.deepEqual(visitor.findings, [])
    // From now on, signing in with this GitHub account signs in the person who added it.
    await using other = await browser.visit({
      origin: parts.product.baseUrl,
      alsoAllow: [parts.github.url],
      expected: [/Failed to load resource/],
    })
    await other.page.goto(`${parts.product.baseUrl}/api/v1/auth/github/login?return_to=/you`)
    await other.page.getByLabel('Login').fill('ada')
    await other.page.getByRole('button', { name: 'Authorize' }).click()
    await other.page.getByRole('button', { name: 'Remove GitHub' }).waitFor()
    assert.equal(await other.page.getByLabel('E-mail').inputValue(), 'olga@acme.test')
  })

  test('a proof that is not acceptable is refused in the dialog, and declining adds nothing', async () => {
    await using visitor = await visit([/status of 400/])
    const { page } = visitor
    await page.goto(`${parts.product.baseUrl}/you?link=${'a'.repeat(60)}`)
    const dialog = page.getByRole('dialog', { name: 'Add this way to sign in?' })
    await dialog.getByRole('alert').getByText('link_invalid').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(`${parts.product.baseUrl}/you`)
    assert.deepEqual(visitor.findings, [])
  })

  test('a sign-in of more than an hour ago is said before anybody is sent to a provider', async () => {
    await using visitor = await visit()
    const { page } = visitor
    parts.product.clock.forward(61 * 60_000)
    await page.goto(`${parts.product.baseUrl}/you`)
    await page.getByText('Your sign-in is older than 1 hour.').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Add GitHub' }).count(), 0)
    assert.deepEqual(visitor.findings, [])
  })
})
