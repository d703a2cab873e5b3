import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { furnishedForTests, type Furnished } from '../harness/furnished.ts'
import { until } from '../harness/gateway.ts'
import { walkStates, type ListPage } from '../harness/list-states.ts'
import { pageAddress } from '../harness/pages.ts'

const directory = '/o/acme/sso?tab=directory'
const heightOfPage = 'document.documentElement.scrollHeight'
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

describe('every list of the dashboard', { timeout: 240_000 }, () => {
  let parts: Furnished
  before(async () => {
    parts = await furnishedForTests()
  })
  after(async () => await parts[Symbol.asyncDispose]())

  test('each list says whether it is being read, could not be read, is empty or is old, keeps old rows and bears many', async () => {
    const waiting = [...lists]
    const walk = async (): Promise<void> => {
      // Each walk has a visitor of its own, so that a changed clock or a broken network does not affect the other
      // walks.
      await using visitor = await parts.visit([/net::ERR_/, /status of 500/])
      await visitor.page.clock.install()
      for (let list = waiting.shift(); list !== undefined; list = waiting.shift()) {
        const where = `${list.page} with ${list.api}`
        await walkStates(visitor, parts.baseUrl, list).catch((cause: unknown) => {
          throw new Error(where, { cause })
        })
      }
      assert.deepEqual(visitor.findings, [])
    }
    await Promise.all([walk(), walk(), walk()])
  })

  test('a long list has few rows at a time, and where scrolling ends each of them is whole', async () => {
    await using visitor = await parts.visit()
    const { page } = visitor
    const real = (await (
      await page.request.get(`${parts.baseUrl}/api/v1${here}/calls`)
    ).json()) as {
      items: { id: string }[]
    }
    const [call] = real.items
    assert.ok(call)
    const items = Array.from({ length: 1000 }, (_, index) => ({
      ...call,
      id: `${call.id.slice(0, -4)}${String(index).padStart(4, '0')}`,
    }))
    const pattern = (url: URL): boolean => url.pathname === `/api/v1${here}/calls`
    await page.route(pattern, async (route) => await route.fulfill({ json: { ...real, items } }))
    await page.goto(`${parts.baseUrl}/o/acme/calls`)
    await until(async () => Number(await page.evaluate(heightOfPage)) > 1000 * 30)
    const cells = 'tr[data-row] td'
    const rows = (): Promise<number> => page.locator('tr[data-row]').count()
    for (const px of [400, -300]) {
      const height = await page.evaluate(heightOfPage)
      await page.evaluate(`new Promise((resolve) => {
        let steps = 0
        const step = () => {
          scrollBy(0, ${px})
          if (++steps < 20) requestAnimationFrame(step)
          else resolve()
        }
        step()
      })`)
      await until(async () => (await page.locator(cells).count()) === (await rows()) * 7)
      assert.ok((await rows()) < 100)
      assert.equal(await page.evaluate(heightOfPage), height)
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('the focus is never lost: where a row, a button or a dialog goes away, it stays near', async () => {
    await using visitor = await parts.visit()
    const { page } = visitor
    const press = async (role: 'button' | 'menuitem', name: string): Promise<void> => {
      await page.getByRole(role, { name, exact: true }).first().press('Enter')
    }
    /** Waits until the focus is within a part of the page, and has not been lost to the start of the document. */
    const focusIn = async (part: string): Promise<void> => {
      await page.locator(`${part}:focus, ${part} :focus`).waitFor({ state: 'attached' })
    }
    await page.goto(`${parts.baseUrl}/o/acme/keys`)
    await page.locator('tr[data-row]').first().press('Enter')
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await focusIn('main')
    await page.goto(`${parts.baseUrl}${pageAddress('key-rotated', parts.ids)}`)
    await press('button', 'End the old secret')
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: 'End the old secret' })
      .press('Enter')
    await page.getByText('The old secret has ended').waitFor()
    await focusIn('main')
    await page.goto(`${parts.baseUrl}/o/acme/calls?stopped_at=rules`)
    await page.getByRole('button', { name: /^Remove filter/ }).press('Enter')
    await page.getByRole('button', { name: /^Remove filter/ }).waitFor({ state: 'detached' })
    await focusIn('main')
    await page.goto(`${parts.baseUrl}/o/acme/targets/payments`)
    await press('button', 'Add rule')
    await focusIn('main select')
    await press('button', 'Done')
    await focusIn('main')
    await page.goto(`${parts.baseUrl}/o/acme/webhooks/secret`)
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
})
