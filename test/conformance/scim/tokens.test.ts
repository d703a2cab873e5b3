import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import { directoryWalks } from '../../../src/store/index.ts'
import { withStore } from '../../harness/person.ts'
import { commandLine, directoryForTests, scimCall, type TestDirectory } from './directory.ts'

const hourMs = 3_600_000

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

    test('where a walk got to is forgotten a day after its last page, also when its token is revoked', async () => {
      for (let user = 0; user < 3; user++) await directory.addUser()
      const words = ['scim', 'token', 'issue', 'acme', '--name', 'walker']
      const { id, secret } = await commandLine(words, directory.product)
      const page = async (token: string): Promise<void> => {
        const reply = await scimCall(`${directory.base}/Users?count=1`, 'GET', { token })
        assert.equal(reply.body.totalResults, 3)
      }
      await page(String(secret))
      await commandLine(['scim', 'token', 'revoke', 'acme', String(id)], directory.product)
      // The walks of tokens, after what the node does every hour.
      const left = async (): Promise<string[]> =>
        await withStore(directory.product, async (store) => {
          await store.transactionOnCalls(directoryWalks.forgetOld)
          const rows = await store.calls.query
            .selectFrom('directory_walk')
            .select('token_id')
            .execute()
          return rows.map((row) => row.token_id)
        })
      assert.deepEqual(await left(), [id])
      directory.product.clock.forward(23 * hourMs)
      await page(directory.token)
      directory.product.clock.forward(2 * hourMs)
      const [only, ...more] = await left()
      assert.deepEqual(more, [])
      assert.notEqual(only, id)
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
