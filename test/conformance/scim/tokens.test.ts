import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import { directoryCounts, directoryWalks, organizations } from '../../../src/store/index.ts'
import { withStore } from '../../harness/person.ts'
import {
  commandLine,
  directoryForTests,
  scimCall,
  userUrn,
  type TestDirectory,
} from './directory.ts'

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
      // Runs the hourly clean-up, and lists the tokens for which a walk through pages is still stored.
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

    for (const [what, status] of [
      ['its token is revoked', '401'],
      ['its plan is taken away', '403'],
    ] as const) {
      test(`a bulk request that is at work when ${what} writes nothing more`, async () => {
        const { product, base, otherToken } = directory
        const words = ['scim', 'token', 'issue', 'other', '--name', what]
        const { id, secret } = await commandLine(words, product)
        const amount = async (): Promise<number> => {
          const given = { token: otherToken }
          return Number((await scimCall(`${base}/Users?count=0`, 'GET', given)).body.totalResults)
        }
        const before = await amount()
        const bulk = scimCall(`${base}/Bulk`, 'POST', {
          token: String(secret),
          body: {
            schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
            Operations: Array.from({ length: 1000 }, (_, at) => ({
              method: 'POST',
              path: '/Users',
              bulkId: `user-${at}`,
              data: { schemas: [userUrn], userName: `${what} ${at}` },
            })),
          },
        })
        while ((await amount()) < before + 3);
        const ended =
          status === '401'
            ? ['scim', 'token', 'revoke', 'other', String(id)]
            : ['org', 'set-plan', 'other', 'standard']
        await commandLine(ended, product)
        const atAnswer = await written(directory, 'other')
        const { Operations } = (await bulk).body as { Operations: { status: string }[] }
        const made = Operations.filter((each) => each.status === '201').length
        assert.equal(Operations.at(-1)?.status, status)
        assert.deepEqual([...new Set(Operations.map((each) => each.status))], ['201', status])
        // The operation that was running when access ended may still have been committed.
        assert.ok(before + made - atAnswer <= 1, `${before + made} and not ${atAnswer}`)
        if (status === '403') await commandLine(['org', 'set-plan', 'other', 'enterprise'], product)
        assert.equal(await amount(), before + made)
      })
    }
  })
}

/** Counts the users in an organization's directory without using a token. */
async function written({ product }: TestDirectory, slug: string): Promise<number> {
  return await withStore(product, async (store) => {
    const { id } = (await organizations.findBySlug(store, slug))!
    return await directoryCounts.countFrom(store, {
      table: 'directory_user',
      organizationId: id,
      bucket: 0,
    })
  })
}
