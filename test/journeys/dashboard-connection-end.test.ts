import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import { withLinks } from '../harness/person.ts'
import { Jar } from '../harness/sign-in.ts'
import { walk } from '../harness/sso.ts'

describe('what the page says before a connection ends, and when it does not work', () => {
  let place: Neighbours
  let browser: TestBrowser
  before(async () => {
    freshDashboard()
    place = await neighboursForTests()
    browser = await browserForTests()
    for (const sub of ['ann', 'ben', 'cleo']) {
      const came = await place.arrive(place.ours.start, { sub, email: `${sub}@acme.test` })
      assert.equal(came.status, 200, came.text)
    }
    const cleo = `PATCH /organizations/acme/members/${await place.idIn('cleo@acme.test')}`
    assert.equal((await place.owner.call(cleo, { role: 'owner' })).status, 200)
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  async function visit(expected: readonly RegExp[] = []): Promise<Visitor> {
    const { product } = place
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    const { baseUrl } = product
    return await visitDashboard(browser, { baseUrl, link, expected })
  }
  const tab = () => `${place.product.baseUrl}/o/acme/sso?tab=connection`

  test('deleting and moving it name whom that leaves without a way in, owners apart', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(tab())
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('3 members have signed in through it; 3 have no other way in').waitFor()
    await page.getByText('One of them is an owner').waitFor()
    await checkState(visitor, 'sso-delete-dependents-light')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Edit' }).first().click()
    await page.getByLabel('Issuer').fill('https://another.test')
    await page.getByText('Another issuer is another provider').waitFor()
    await page.getByText('3 members have signed in through it').waitFor()
    await checkState(visitor, 'sso-move-dependents-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('a test that failed shows as failed, not as never tried', async () => {
    const path = `/organizations/acme/connections/${place.ours.id}`
    const started = await place.owner.call(`POST ${path}/tests`)
    place.product.clock.forward(-65_000)
    const walked = await walk(new Jar(), started.json.address as string)
    place.product.clock.forward(65_000)
    assert.match(await walked.text(), /stopped at a step/)
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(tab())
    await page.getByText('Test failed').waitFor()
    await page.getByText('The last test has failed').waitFor()
    assert.equal(await page.getByText('Not tested', { exact: true }).count(), 0)
    await checkState(visitor, 'sso-test-failed-light')
    assert.deepEqual(visitor.findings, [])
  })

  test('an issuer that is none, and what is still missing, are said beside the button', async () => {
    await using visitor = await visit()
    const { page } = visitor
    await page.goto(tab())
    await page.getByRole('button', { name: 'Add another connection' }).click()
    await page.getByRole('button', { name: 'Other OpenID Connect' }).click()
    await page.getByLabel('Issuer').fill('acme.okta.com')
    await page.getByText('An issuer is an address that begins with https://').waitFor()
    await page.getByText('Still missing: Client id, Client secret.').waitFor()
    await checkState(visitor, 'sso-issuer-wrong-light')
    assert.deepEqual(visitor.findings, [])
  })
})
