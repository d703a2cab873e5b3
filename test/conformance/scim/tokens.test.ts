import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import { commandLine, directoryForTests, scimCall, type TestDirectory } from './directory.ts'

for (const engine of engines) {
  describe(`SCIM tokens on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    async function status(token: string): Promise<number> {
      return (await scimCall(`${directory.base}/Users?count=0`, 'GET', { token })).status
    }

    test('a token that another process revokes is refused on the next request, however often it was used before', async () => {
      const words = ['scim', 'token', 'issue', 'acme', '--name', 'short-lived']
      const issued = await commandLine(words, directory.product)
      const secret = String(issued['secret'])
      for (let use = 0; use < 5; use++) assert.equal(await status(secret), 200)
      const id = String(issued['id'])
      await commandLine(['scim', 'token', 'revoke', 'acme', id], directory.product)
      assert.equal(await status(secret), 401)
      assert.equal(await status(directory.token), 200)
    })

    test('a plan that another process takes away closes the door on the next request, and opens it again', async () => {
      assert.equal(await status(directory.otherToken), 200)
      await commandLine(['org', 'set-plan', 'other', 'standard'], directory.product)
      assert.equal(await status(directory.otherToken), 403)
      assert.equal(await status(directory.token), 200)
      await commandLine(['org', 'set-plan', 'other', 'enterprise'], directory.product)
      assert.equal(await status(directory.otherToken), 200)
    })
  })
}
