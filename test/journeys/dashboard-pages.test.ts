import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkWithout, inTabs } from '../harness/dashboard.ts'
import { furnishedForTests, type Furnished } from '../harness/furnished.ts'

describe('every page of the dashboard', { timeout: 240_000 }, () => {
  let parts: Furnished
  before(async () => {
    parts = await furnishedForTests()
  })
  after(async () => await parts[Symbol.asyncDispose]())

  test('each page, light and dark, has no accessibility finding and a name for all that people work with, no console line, no violation of the policy and fits 320 px', async () => {
    await using visitor = await parts.visit()
    await inTabs(visitor, parts.addresses, async (tab, [name, address]) => {
      await parts.open(tab, name, address)
      await checkWithout(tab, name)
    })
    assert.deepEqual(visitor.findings, [])
  })
})
