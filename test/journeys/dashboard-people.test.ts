import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const hostile = '<img src=x onerror="document.title=1">"><script>alert(1)</script>'

describe('people in the dashboard', () => {
  let product: TestProduct
  let browser: TestBrowser

  before(async () => {
    freshDashboard()
    product = await productForTests({ settings: { SIGN_UP: 'open' } })
    await firstOwner(product)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  async function visit(
    more: { colorScheme?: 'light' | 'dark'; width?: number; expected?: RegExp[] } = {},
  ): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, ...more })
  }

  test('an invitation gives a link once, and its page says who, where, as what and how to accept', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/members`)
    await page.getByRole('button', { name: 'Invite' }).first().click()
    await page.getByLabel('E-mail', { exact: true }).fill('grace@acme.test')
    await page.getByLabel(/^Viewer/).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog', { name: 'Give them this link' })
    const link = (await dialog.locator('[data-secret]').textContent()) ?? ''
    await checkState(visitor, 'invitation-link-light')
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('tab', { name: 'Invitations' }).click()
    await page.getByText('grace@acme.test').waitFor()
    assert.deepEqual(visitor.findings, [])
    // The invited person has no session yet, so one 401 is expected.
    await using invited = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      expected: [/401 \(Unauthorized\)/],
    })
    await invited.page.goto(link)
    await invited.page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    await invited.page.getByText('grace@acme.test is invited as Viewer.').waitFor()
    await checkState(invited, 'invitation-light')
    assert.deepEqual(invited.findings, [])
  })

  test('a member is found by part of the name or address; who is not there is said', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/members`)
    const box = page.getByRole('searchbox')
    await box.fill('OLGA@')
    await page.waitForURL(/q=OLGA/)
    await page.getByRole('link', { name: 'Olga Owner' }).waitFor()
    await box.fill('nobody')
    await page.getByText('No members match. 1 filter is on.').waitFor()
    assert.deepEqual(visitor.findings, [])
  })

  test('the only owner cannot be demoted, and the page says why', async () => {
    await using visitor = await visit({ expected: [/status of 4\d\d/] })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/members`)
    await page.getByRole('link', { name: 'Olga Owner' }).click()
    await page.getByLabel(/^Viewer/).check()
    await page.getByRole('button', { name: 'Change role' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.match((await alert.textContent()) ?? '', /owner/i)
    await checkState(visitor, 'member-refused-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('a session on another device is seen and ended; that device is asked to sign in again and nothing typed is lost', async () => {
    await using here = await visit()
    await using there = await visit({
      width: 390,
      colorScheme: 'dark',
      expected: [/401 \(Unauthorized\)/],
    })
    await there.page.goto(`${product.baseUrl}/o/acme/keys?issue=now`)
    await there.page.getByLabel('Name', { exact: true }).fill('typed before the end')
    const { page } = here
    await page.goto(`${product.baseUrl}/you`)
    await page.getByText('This device').waitFor()
    await checkState(here, 'you-light')
    await page.getByRole('button', { name: 'End other sessions' }).click()
    await page
      .getByText(/sessions? ended/)
      .first()
      .waitFor()
    // If the list behind the dialog has already noticed the end of the session, a notice covers this button, and the
    // dialog for signing in again hides it. So the click is sent to the button itself, hidden or not.
    const issue = there.page.getByRole('button', { name: 'Issue key', includeHidden: true })
    await issue.last().dispatchEvent('click')
    await there.page.getByRole('dialog', { name: 'You are signed out' }).waitFor()
    await checkState(there, 'signed-out-narrow')
    await there.page.getByRole('button', { name: 'Cancel' }).last().click()
    assert.equal(
      await there.page.getByLabel('Name', { exact: true }).inputValue(),
      'typed before the end',
    )
    assert.deepEqual([...here.findings, ...there.findings], [])
  })

  test('hostile names are shown as text wherever they appear', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme/keys?issue=now`)
    await page.getByLabel('Name', { exact: true }).fill(hostile)
    await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('heading', { name: hostile }).waitFor()
    await page.getByRole('link', { name: 'Show in the audit log' }).click()
    await page.locator('tr[data-row]').first().click()
    await page.getByRole('dialog').getByText('onerror').first().waitFor()
    assert.notEqual(await page.title(), '1')
    assert.deepEqual(visitor.findings, [])
  })

  test('without a session a deep link leads to sign-in and remembers where to; the server itself never redirects', async () => {
    await using visitor = await visitDashboard(browser, {
      baseUrl: product.baseUrl,
      expected: [/401 \(Unauthorized\)/],
    })
    const { page } = visitor
    const answer = await page.goto(`${product.baseUrl}/o/acme/calls?stopped_at=rules`)
    assert.equal(answer?.status(), 200)
    await page.waitForURL(/\/sign-in\?return_to=/)
    assert.equal(
      new URL(page.url()).searchParams.get('return_to'),
      '/o/acme/calls?stopped_at=rules',
    )
    await page.getByText('npx interceptd sign-in-link').waitFor()
    await checkState(visitor, 'sign-in-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('another organization’s address is a page that says nothing is here; unknown assets and API addresses are 404', async () => {
    await using visitor = await visit()
    await visitor.page.goto(`${product.baseUrl}/o/globex/keys`)
    await visitor.page.getByText('There is nothing here').waitFor()
    await checkState(visitor, 'not-found-light')
    // The page requests its data before it knows whether the organization exists, so this 404 is expected.
    const others = visitor.findings.filter(
      (finding) => !/status of 404 .*\/api\/v1\/organizations\/globex\/keys/.test(finding),
    )
    assert.deepEqual(others, [])
    for (const path of ['/assets/none.js', '/api/none', '/scim/none', '/nowhere']) {
      assert.equal((await fetch(product.baseUrl + path)).status, 404, path)
    }
  })

  test('the palette and the shortcuts reach every page with the keyboard, and can be switched off', async () => {
    await using visitor = await visit({ colorScheme: 'dark' })
    const { page } = visitor
    await page.goto(`${product.baseUrl}/o/acme`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('audit')
    await checkState(visitor, 'palette-dark')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Help' }).getByRole('switch').click()
    await checkState(visitor, 'help-dark')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    assert.match(page.url(), /\/keys$/)
    assert.deepEqual(visitor.findings, [])
  })

  test('a chosen theme holds after a reload, before the first paint', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(`${product.baseUrl}/you`)
    await page.getByRole('button', { name: 'Dark' }).click()
    await page.reload({ waitUntil: 'commit' })
    await page.getByRole('heading', { name: 'You', exact: true }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    assert.equal(
      await page.evaluate('getComputedStyle(document.body).backgroundColor'),
      'rgb(15, 19, 25)',
    )
    assert.deepEqual(visitor.findings, [])
  })
})
