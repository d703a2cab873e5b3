import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { checkState, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { firstOwner, withLinks, type Person } from '../harness/person.ts'
import { signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'

const looks = [
  { look: 'light', width: 1360, colorScheme: 'light', who: 'Ada', email: 'ada@corp.test' },
  { look: 'narrow-dark', width: 390, colorScheme: 'dark', who: 'Bea', email: 'bea@corp.test' },
] as const

describe('joining by invitation in the dashboard', () => {
  let parts: SignInProduct
  let browser: TestBrowser
  let owner: Person

  before(async () => {
    freshDashboard()
    parts = await signInProductForTests()
    owner = await firstOwner(parts.product)
    const bea = { subject: 'g-bea', email: 'bea@corp.test', emailVerified: true, name: 'Bea' }
    parts.idp.people.set(bea.subject, bea)
    browser = await browserForTests()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  async function visit(more: {
    link?: string
    expected?: readonly RegExp[]
    width: number
    colorScheme: 'light' | 'dark'
  }): Promise<Visitor> {
    return await visitDashboard(browser, {
      baseUrl: parts.product.baseUrl,
      alsoAllow: [parts.idp.issuer, parts.github.url],
      ...more,
    })
  }
  const ownLink = async (): Promise<string> =>
    await withLinks(parts.product, async (links) => await links.signInLink('olga@acme.test'))

  for (const { look, who, email, ...size } of looks) {
    test(`an invitation is refused to another e-mail, accepted by its own, and a new role ends the session in an open tab (${look})`, async () => {
      const { baseUrl } = parts.product
      const input = { email, role: 'developer' }
      const invited = await owner.call('POST /organizations/acme/invitations', input)
      const invitation = String(invited.json.link)

      await using olga = await visit({
        ...size,
        link: await ownLink(),
        expected: [/status of 4\d\d/],
      })
      await olga.page.goto(invitation)
      await olga.page.getByText('You are signed in as olga@acme.test.').waitFor()
      await olga.page.getByRole('button', { name: 'Accept invitation' }).click()
      await olga.page.getByRole('alert').getByText(email).waitFor()
      await olga.page.getByRole('link', { name: 'Sign in as somebody else' }).waitFor()
      await checkState(olga, `invitation-other-email-${look}`)

      await using ada = await visit({
        ...size,
        expected: [/401 \(Unauthorized\)/, /status of 400/],
      })
      await ada.page.goto(invitation)
      await ada.page.getByRole('link', { name: 'Continue with Google' }).waitFor()
      await checkState(ada, `invitation-accept-${look}`)
      await ada.page.getByRole('link', { name: 'Continue with Google' }).click()
      await ada.page.getByLabel('Login').fill(email)
      await ada.page.getByRole('button', { name: 'Sign in' }).click()
      // Signing in has accepted the invitation, so the page behind the link leads to the organization.
      await ada.page.waitForURL(/\/o\/acme$/)
      await ada.page.goto(`${baseUrl}/o/acme/keys`)
      await ada.page.getByRole('button', { name: 'Issue key' }).first().waitFor()

      await olga.page.goto(`${baseUrl}/o/acme/members`)
      await olga.page.getByRole('link', { name: who, exact: true }).click()
      await olga.page.getByLabel(/^Viewer/).check()
      await olga.page.getByRole('button', { name: 'Change role' }).click()
      await olga.page.getByText('Role changed').first().waitFor()
      await ada.page.getByRole('dialog', { name: 'You are signed out' }).waitFor()
      await checkState(ada, `role-changed-signed-out-${look}`)
      const members = (await owner.call('GET /organizations/acme/members')).json.items
      const roles = new Map(
        members.map((one: { email: string; role: string }) => [one.email, one.role]),
      )
      assert.equal(roles.get(email), 'viewer')
      assert.equal(roles.get('olga@acme.test'), 'owner')
      assert.deepEqual([...olga.findings, ...ada.findings], [])
    })
  }
})
