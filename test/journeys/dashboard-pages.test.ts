// Every page of the dashboard: in both themes and on the narrowest screen without a finding, and without a text of its own.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { callOnce, furnish, idsOf } from '../harness/acme.ts'
import { browserForTests, type TestBrowser, type Visitor } from '../harness/browser.ts'
import { companyFor, people } from '../harness/company.ts'
import { checkWithout, freshDashboard, visitDashboard } from '../harness/dashboard.ts'
import { walkStates, type ListPage } from '../harness/list-states.ts'
import {
  opensDialog,
  organizationPages,
  ownPages,
  pageAddress,
  type PageIds,
} from '../harness/pages.ts'
import { firstOwner, withLinks } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { cutTexts, plainTexts, showLengthened } from '../harness/pseudo.ts'
import { command } from '../harness/sso.ts'
import { upstreamForTests } from '../harness/upstream.ts'

const names = Object.keys(organizationPages) as (keyof typeof organizationPages)[]
/** What people, programs and the outside world are called here; everything else must be in the catalogue. */
const data = [
  /\S+@\S+|https?:\/\/\S+|svc_\S+/g,
  /\b[a-z]+(?:_[a-z]+)*(?:\.[a-z_]+)+\b|\/(?:v1|admin)\/\S*/g,
  // What Intl writes: times, numbers with units.
  /\d{1,2} \w{3,4} \d{4}, [\d:]+|[\d.,]+ (?:ms|s|min|bytes?|[KMG]iB|days?|hours?|minutes?)\b|\bUTC\b/g,
  // What programs call it: methods, effects, types, fields, record types, languages.
  /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TXT|allow|deny|false|true)\b/g,
  /\b(?:api_key|call|target|quota|member|session|sso|domain|scim|webhook|organization)\b(?:\.\w+)?/g,
  /\b(?:slug|name|upstream|settings|disabled|rules|Node\.js|Python|Go|Ruby|PHP|Java)\b/g,
  // Names that people gave.
  /\b(?:Acme|acme|Intercept|Olga Owner|Deployment bot|payments|ledger|(?:partner|nightly|mobile|checkout)-\w+)\b/g,
  /\b(?:Okta production|Okta trial|Entra of the sister company|Keycloak, not yet tried|Google Workspace until 2025)\b/g,
  /\b(?:developer|platform|audit|search|Mozilla.*|HeadlessChrome\S*|node|Okta SCIM Client 1\.0\.0)\b/g,
  new RegExp(people.map(([name]) => name).join('|'), 'g'),
  // Sentences of the server, which come with a code.
  /An API key was issued\.|Token: It did not exchange.*|There is (?:no attribute|a user).*/g,
]

const directory = '/o/acme/sso?tab=directory'
const here = '/organizations/acme'
const lists: readonly ListPage[] = [
  { page: '/o/acme/calls', api: `${here}/calls`, empty: 'No calls yet' },
  { page: '/o/acme/keys', api: `${here}/keys`, empty: 'No keys yet' },
  { page: '/o/acme/targets', api: `${here}/targets`, empty: 'No targets yet' },
  { page: '/o/acme/webhooks', api: `${here}/webhooks/endpoints`, empty: 'No endpoints yet' },
  {
    page: '/o/acme/webhooks/deliveries',
    api: `${here}/webhooks/deliveries`,
    empty: 'Nothing sent yet',
  },
  { page: '/o/acme/members', api: `${here}/members`, empty: 'You are alone here' },
  {
    page: '/o/acme/members?tab=invitations',
    api: `${here}/invitations`,
    empty: 'No invitations',
  },
  { page: '/o/acme/sso', api: `${here}/domains`, empty: 'No domains yet', many: 20 },
  {
    page: '/o/acme/sso?tab=connection',
    api: `${here}/connections`,
    empty: 'Connect your identity provider',
    many: 6,
  },
  { page: directory, api: `${here}/directory/tokens`, empty: 'No tokens yet', many: 20 },
  { page: directory, api: `${here}/directory/requests`, empty: 'Nothing has come yet' },
  { page: directory, api: `${here}/directory/users`, empty: 'The directory has sent nobody yet.' },
  { page: '/o/acme/sso?tab=roles', api: `${here}/directory/groups`, empty: 'No groups yet' },
  { page: '/o/acme/audit', api: `${here}/audit`, empty: 'Nothing was changed yet' },
]

describe('every page of the dashboard', { timeout: 240_000 }, () => {
  const parts = new AsyncDisposableStack()
  let product: TestProduct
  let browser: TestBrowser
  let ids: PageIds

  before(async () => {
    freshDashboard()
    product = parts.use(await productForTests({ settings: { SIGN_UP: 'open' } }))
    browser = parts.use(await browserForTests())
    const upstream = parts.use(await upstreamForTests((_, response) => response.end('ok')))
    const owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    parts.use(await companyFor(product, browser, owner))
    const made = await furnish(owner, upstream.url)
    for (let number = 0; number < 40; number++) await callOnce(product, made.secrets, number)
    ids = await idsOf(owner, made)
  })
  after(async () => await parts.disposeAsync())

  async function visit(expected: readonly RegExp[] = []): Promise<Visitor> {
    const link = await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))
    return await visitDashboard(browser, { baseUrl: product.baseUrl, link, expected })
  }
  const addresses = (): (readonly [string, string])[] => [
    ...names.map((name) => [name, pageAddress(name, ids)] as const),
    ...ownPages.map((name) => [name, `/${name}`] as const),
  ]
  async function open({ page }: Visitor, name: string, address: string): Promise<void> {
    await page.goto(product.baseUrl + address)
    await page.locator('h1').first().waitFor()
    if (opensDialog.has(name)) await page.getByRole('dialog').first().waitFor()
  }

  test('each page, light and dark, has no accessibility finding, no console line, no violation of the policy and fits 320 px', async () => {
    await using visitor = await visit()
    for (const [name, address] of addresses()) {
      await open(visitor, name, address)
      await checkWithout(visitor, name)
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('each list says whether it is being read, could not be read, is empty or is old, keeps old rows and bears many', async () => {
    await using visitor = await visit([/net::ERR_/, /status of 500/])
    await visitor.page.clock.install()
    for (const list of lists) {
      await walkStates(visitor, product.baseUrl, list).catch((cause: unknown) => {
        throw new Error(`${list.page} with ${list.api}`, { cause })
      })
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('the focus is never lost: where a row, a button or a dialog goes away, it stays near', async () => {
    await using visitor = await visit()
    const { page } = visitor
    const press = async (role: 'button' | 'menuitem', name: string): Promise<void> => {
      await page.getByRole(role, { name, exact: true }).first().press('Enter')
    }
    /** Waits until the focus is within a part of the page: never the document's start. */
    const focusIn = async (part: string): Promise<void> => {
      await page.locator(`${part}:focus, ${part} :focus`).waitFor({ state: 'attached' })
    }
    await page.goto(`${product.baseUrl}/o/acme/keys`)
    await page.locator('tr[data-row]').first().press('Enter')
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await focusIn('main')
    await page.goto(`${product.baseUrl}${pageAddress('key-rotated', ids)}`)
    await press('button', 'End the old secret')
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: 'End the old secret' })
      .press('Enter')
    await page.getByText('The old secret has ended').waitFor()
    await focusIn('main')
    await page.goto(`${product.baseUrl}/o/acme/calls?stopped_at=rules`)
    await page.getByRole('button', { name: /^Remove filter/ }).press('Enter')
    await page.getByRole('button', { name: /^Remove filter/ }).waitFor({ state: 'detached' })
    await focusIn('main')
    await page.goto(`${product.baseUrl}/o/acme/targets/payments`)
    await press('button', 'Add rule')
    await focusIn('main select')
    await press('button', 'Done')
    await focusIn('main')
    await page.goto(`${product.baseUrl}/o/acme/webhooks/secret`)
    await press('button', 'Show the secret')
    await page.locator('[data-secret]').first().waitFor()
    await focusIn('main')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('audit')
    await page.keyboard.press('Escape')
    await page.getByRole('combobox').waitFor({ state: 'detached' })
    await focusIn('main')
    assert.deepEqual(visitor.findings, [])
  })

  test('in a language whose words are 40 % longer each page has only texts of the catalogue, and none is cut off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-pseudo-'))
    try {
      await using visitor = await visit()
      await showLengthened(visitor.context, folder)
      const wrong: Record<string, readonly string[]> = {}
      for (const [name, address] of addresses()) {
        await visitor.page.setViewportSize({ width: 1360, height: 850 })
        await open(visitor, name, address)
        await visitor.page.getByText('⟦').first().waitFor()
        await visitor.page.waitForSelector('p[role=status] > span', { state: 'detached' })
        const found = (await plainTexts(visitor.page, data)).map((text) => `plain: ${text}`)
        found.push(...(await cutTexts(visitor.page)).map((text) => `cut off: ${text}`))
        await visitor.page.setViewportSize({ width: 390, height: 844 })
        found.push(...(await cutTexts(visitor.page)).map((text) => `cut off at 390 px: ${text}`))
        if (found.length > 0) wrong[name] = found
      }
      assert.deepEqual(wrong, {})
      assert.deepEqual(visitor.findings, [])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
