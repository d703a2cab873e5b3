// Invite and join to the end: the wrong person is refused, the right one is in, a new role asks for a new sign-in.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'

describe('joining by invitation in the dashboard', () => {
  let parts: SignInProduct
  let browser: TestBrowser
  let owner: Person

  before(async () => {
    freshDashboard()
    parts = await signInProductForTests()
    owner = await firstOwner(parts.product)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  async function visit(more: { link?: string; expected?: readonly RegExp[] }): Promise<Visitor> {
    return await visitDashboard(browser, {
      baseUrl: parts.product.baseUrl,
      alsoAllow: [parts.idp.issuer, parts.github.url],
      ...more,
    })
  }
  const ownLink = async (): Promise<string> =>
    await withLinks(parts.product, async (links) => await links.signInLink('olga@acme.test'))

  test('an invitation is refused to another e-mail, accepted by its own, and a new role ends the session in an open tab', async () => {
    const { baseUrl } = parts.product
    const wish = { email: 'ada@corp.test', role: 'developer' }
    const invited = await owner.call('POST /organizations/acme/invitations', wish)
    const invitation = String(invited.json.link)

    await using olga = await visit({ link: await ownLink(), expected: [/status of 4\d\d/] })
    await olga.page.goto(invitation)
    await olga.page.getByText('You are signed in as olga@acme.test.').waitFor()
    await olga.page.getByRole('button', { name: 'Accept invitation' }).click()
    await olga.page.getByRole('alert').getByText('ada@corp.test').waitFor()
    await olga.page.getByRole('link', { name: 'Sign in as somebody else' }).waitFor()
    await checkState(olga, 'invitation-other-email-light')

    await using ada = await visit({ expected: [/401 \(Unauthorized\)/, /status of 400/] })
    await ada.page.goto(invitation)
    await ada.page.getByRole('link', { name: 'Continue with Google' }).waitFor()
    await checkState(ada, 'invitation-accept-light')
    await ada.page.getByRole('link', { name: 'Continue with Google' }).click()
    await ada.page.getByLabel('Login').fill('ada@corp.test')
    await ada.page.getByRole('button', { name: 'Sign in' }).click()
    // The sign-in itself has accepted it: the page behind the link leads on.
    await ada.page.waitForURL(/\/o\/acme$/)
    await ada.page.goto(`${baseUrl}/o/acme/keys`)
    await ada.page.getByRole('button', { name: 'Issue key' }).first().waitFor()

    await olga.page.goto(`${baseUrl}/o/acme/members`)
    await olga.page.getByRole('link', { name: 'Ada', exact: true }).click()
    await olga.page.getByLabel(/^Viewer/).check()
    await olga.page.getByRole('button', { name: 'Change role' }).click()
    await olga.page.getByText('Role changed').first().waitFor()
    await ada.page.getByRole('dialog', { name: 'You are signed out' }).waitFor()
    await checkState(ada, 'role-changed-signed-out-light')
    const members = (await owner.call('GET /organizations/acme/members')).json.items
    assert.deepEqual(
      members.map((one: { email: string; role: string }) => [one.email, one.role]).toSorted(),
      [
        ['ada@corp.test', 'viewer'],
        ['olga@acme.test', 'owner'],
      ],
    )
    assert.deepEqual([...olga.findings, ...ada.findings], [])
  })
})
