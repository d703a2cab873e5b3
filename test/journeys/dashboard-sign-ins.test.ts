import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Visitor } from '../harness/browser.ts'
import { checkState } from '../harness/dashboard.ts'
import { furnishedForTests, type Furnished } from '../harness/furnished.ts'

describe('sign-ins and people in step in the dashboard', { timeout: 120_000 }, () => {
  let parts: Furnished
  let visitor: Visitor
  before(async () => {
    parts = await furnishedForTests()
    visitor = await parts.visit()
  })
  after(async () => {
    await visitor[Symbol.asyncDispose]()
    await parts[Symbol.asyncDispose]()
  })

  test('stand above the members and below the connections as a chart, and as a table that adds up', async () => {
    const { page } = visitor
    for (const path of ['/members', '/sso?tab=connection']) {
      await page.goto(`${parts.baseUrl}/o/acme${path}`)
      const chart = page.getByRole('region', { name: 'Sign-ins of the last 30 days' })
      await chart.getByRole('button', { name: 'Show as table' }).click()
      const rows = chart.locator('tbody tr')
      assert.equal(await rows.count(), 30)
      const cells = await rows.last().locator('th, td').allTextContents()
      const [company, other] = cells.slice(-3).map(Number)
      // One person signed in through the company, and the owner by links.
      assert.ok((company ?? 0) >= 1 && (other ?? 0) >= 1, cells.join(' '))
      await chart.getByRole('button', { name: 'Show as chart' }).click()
      await checkState(
        visitor,
        path === '/members' ? 'members-sign-ins-light' : 'sso-sign-ins-light',
      )
    }
    assert.deepEqual(visitor.findings, [])
  })

  test('people in step with the directory are a bar and the same in words', async () => {
    const { page } = visitor
    await page.goto(`${parts.baseUrl}/o/acme/sso?tab=directory`)
    await page.getByText('7 as the directory says · 1 not from the directory').waitFor()
    const bar = page.getByRole('img', {
      name: '7 members as the directory says, 0 otherwise, 1 not from the directory',
    })
    await bar.waitFor()
    await checkState(visitor, 'directory-in-step-light')
    assert.deepEqual(visitor.findings, [])
  })
})
