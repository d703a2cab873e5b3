// The migration that ends tokens with what issued them, run again over rows as an older version left them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createId, type UserId } from '../../src/ids.ts'
import { accessTokens, memberships, organizations, users } from '../../src/store/index.ts'
import { emptyPlace, engines } from './engines.ts'

const migrations = join(import.meta.dirname, '../../src/store/migrations')

for (const engine of engines) {
  test(`successors of a token end with it at the latest, and a removed member's tokens are revoked, on ${engine}`, async () => {
    await using place = await emptyPlace(engine)
    await using store = await place.open()
    const acme = createId('org')
    const [here, gone] = [createId('usr'), createId('usr')]
    const ids: Record<string, string> = {}
    await store.transaction(async (tx) => {
      await organizations.insert(tx, { id: acme, slug: 'acme', name: 'Acme', plan: 'standard' })
      for (const id of [here, gone]) await users.insert(tx, { id, name: 'x', email: undefined })
      const member = { organizationId: acme, userId: here, role: 'admin' } as const
      await memberships.insert(tx, { ...member, id: createId('mem'), source: 'operator' })
      const token = async (name: string, by: string | undefined, ends?: number, who?: UserId) => {
        const id = createId('tok')
        ids[name] = id
        await accessTokens.insert(tx, {
          ...{ id, organizationId: acme, name, hint: '', permissions: ['traffic.see'] },
          ...{ cidrs: undefined, createdBy: by, creatorUserId: who, expiresAt: ends, digest: id },
        })
        return id
      }
      const root = await token('root', here, 5000, here)
      const longer = await token('longer', root, 9000, here)
      await token('endless', longer, undefined, here)
      await token('shorter', longer, 3000, here)
      const dead = await token('dead', here, undefined, here)
      const heir = await token('heir', dead, undefined, here)
      await token('heirs heir', heir, 7000, here)
      await token('free', undefined)
      await token("a leaver's", gone, undefined, gone)
      await tx.query
        .updateTable('access_token')
        .set({ revoked_at: 1000 })
        .where('id', '=', dead)
        .execute()
    })
    const text = readFileSync(join(migrations, engine, '0017-token-succession.sql'), 'utf8')
    await store.transaction(async (tx) => {
      for (const statement of text.replaceAll(/^--.*$/gm, '').split(';')) {
        if (!/\bupdate\b/.test(statement)) continue
        await sql.raw(statement).execute(tx.query)
      }
    })
    const found = await accessTokens.list(store, acme, { limit: 50 })
    const seen = Object.fromEntries(
      found.map(({ name, expiresAt, revokedAt }) => [name, [expiresAt, revokedAt !== undefined]]),
    )
    assert.deepEqual(seen, {
      root: [5000, false],
      longer: [5000, false],
      endless: [5000, false],
      shorter: [3000, false],
      dead: [undefined, true],
      heir: [undefined, true],
      'heirs heir': [7000, true],
      free: [undefined, false],
      "a leaver's": [undefined, true],
    })
    assert.equal(found.find(({ name }) => name === 'dead')?.revokedAt, 1000)
  })
}
