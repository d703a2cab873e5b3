import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sessions, openSigningKeys } from '../../src/access/index.ts'
import { Problem } from '../../src/errors.ts'
import { createId } from '../../src/ids.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { users } from '../../src/store/index.ts'
import { steadyClock, storeForTests } from '../harness/store.ts'

for (const format of ['jwt', 'opaque'] as const) {
  test(`Logto 1.39: a ${format} session is refused with 503 when the database does not answer, remembered or not`, async () => {
    const clock = steadyClock()
    await using opened = await storeForTests('sqlite', clock)
    const store = await opened.another()
    const sealer = createSealer(['x'.repeat(32)])
    const sessions = new Sessions({
      store,
      clock,
      signingKeys: await openSigningKeys({ store, sealer, clock }),
      format,
      issuer: 'http://localhost',
      audience: 'http://localhost',
      lifetimeMs: 60_000,
      idleMs: 60_000,
    })
    const userId = createId('usr')
    await store.transaction(
      async (tx) => await users.insert(tx, { id: userId, name: 'Ada', email: undefined }),
    )
    const known = await sessions.start({ userId, provider: 'github' })
    const unknown = await sessions.start({ userId, provider: 'github' })
    assert.equal((await sessions.identify(known.token)).userId, userId)
    await store[Symbol.asyncDispose]()

    const refusal = async (token: string): Promise<string> => {
      try {
        await sessions.identify(token)
        return 'let in'
      } catch (error) {
        assert.ok(error instanceof Problem)
        return error.code
      }
    }
    assert.equal(await refusal(unknown.token), 'storage_unavailable')
    // Cached sessions are trusted for one second after the last successful read of the change feed.
    const end = Date.now() + 5000
    while ((await refusal(known.token)) === 'let in' && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.equal(await refusal(known.token), 'storage_unavailable')
  })
}
