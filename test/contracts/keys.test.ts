import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createKeyCache, Keys, readKey, schemes, type Scheme } from '../../src/access/index.ts'
import type { Clock } from '../../src/clock.ts'
import { Problem } from '../../src/errors.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { digestToHex, mintCredential, type Secret } from '../../src/secrets/index.ts'
import {
  accessTokens,
  auditEntries,
  keySecrets,
  type Actor,
  type Store,
  type Tx,
} from '../../src/store/index.ts'
import { dayMs, hourMs } from '../../src/units.ts'
import { emptyPlace, engines } from './engines.ts'

const operator: Actor = { kind: 'operator' }
const enabledSchemes: readonly Scheme[] = ['x-api-key', 'bearer']

for (const engine of engines) {
  describe(`keys on ${engine}`, () => {
    test('only the digest of a key is stored, and the key is shown once', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, organizationId } = await openKeys(store)
      const { key, secret } = await keys.issue(
        organizationId,
        { name: 'ci', scheme: 'bearer' },
        operator,
      )
      const everything = JSON.stringify([
        await keys.get(organizationId, key.id),
        await keys.list(organizationId, { limit: 10 }),
        await auditEntries.listFrom(store, { organizationId, fromSequence: 0, limit: 10 }),
        await store.query.selectFrom('event').selectAll().execute(),
        await store.query.selectFrom('key_secret').selectAll().execute(),
      ])
      assert.ok(!everything.includes(secret.reveal()))
      assert.ok(!everything.includes(secret.reveal().slice(-20)))
      assert.ok(everything.includes(secret.hint))
    })

    for (const scheme of enabledSchemes) {
      test(`a ${scheme} key revoked by another process is refused on the next request`, async () => {
        await using place = await emptyPlace(engine)
        await using store = await place.open({ isNode: true })
        await using other = await place.open()
        const { keys, organizationId, keyCache } = await openKeys(store)
        const { key, secret } = await keys.issue(organizationId, { name: 'ci', scheme }, operator)
        assert.equal((await identify(keyCache, scheme, secret)).keyId, key.id)
        assert.equal(keyCache.size, 1)
        const elsewhere = new Keys({ store: other, clock })
        const { confirmation } = await elsewhere.revoke(organizationId, key.id, operator)
        assert.deepEqual([confirmation.nodes, confirmation.silentNodes], [1, 0])
        await refused(identify(keyCache, scheme, secret), 'credential_revoked')
      })
    }

    test('a grant names what a target can be called, also before there are targets', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, organizationId } = await openKeys(store)
      const issue = async (target: string) =>
        await keys.issue(organizationId, { name: 'ci', grants: [{ target }] }, operator)
      // A key's page offers a shell command that contains the target's name, so the name must be harmless in a shell.
      for (const target of ['a$(id)', 'a;id', 'a b', 'A', '-a', 'a'.repeat(64), '..', '']) {
        await refused(issue(target), 'invalid_input')
      }
      for (const target of ['a', 'a-1', 'a'.repeat(63)]) await issue(target)
    })

    test('what two nodes find at once is announced by one of them', async () => {
      await using place = await emptyPlace(engine)
      let now = 1_900_000_000_000
      const moving: Clock = { now: () => now, monotonic: () => performance.now() }
      await using store = await place.open({ clock: moving })
      const { keys, organizationId } = await openKeys(store, moving)
      const { key } = await keys.issue(organizationId, { name: 'ci', scheme: 'bearer' }, operator)
      await keys.rotate(organizationId, key.id, { overlapMs: 3 * hourMs, actor: operator })
      const token = { organizationId, name: 'ci', hint: 'hint', permissions: [], cidrs: undefined }
      const more = { digest: 'd', createdBy: 'operator', creatorUserId: undefined }
      await store.transaction(async (tx) => {
        const id = createId('tok', now)
        await accessTokens.insert(tx, { ...token, ...more, id, expiresAt: now + 3 * hourMs })
      })
      now += 2 * hourMs
      const take = async (tx: Tx): Promise<number> => {
        const silent = await keySecrets.takeSilent(tx, tx.now, 10)
        const expiring = await accessTokens.takeExpiring(tx, tx.now + dayMs, 10)
        return silent.length + expiring.length
      }
      let second: Promise<number> | undefined
      const first = await store.transaction(async (tx) => {
        const taken = await take(tx)
        second ??= store.transaction(take)
        await new Promise((resolve) => setTimeout(resolve, 200))
        return taken
      })
      assert.deepEqual([first, await second], [2, 0])
    })

    test('a key that has ended is refused, also where a clock is set back, and its end is announced once', async () => {
      await using place = await emptyPlace(engine)
      let now = 1_900_000_000_000
      const moving: Clock = { now: () => now, monotonic: () => performance.now() }
      await using store = await place.open({ clock: moving })
      const { keys, organizationId, keyCache } = await openKeys(store, moving)
      const input = { name: 'short', scheme: 'bearer' as const, expiresAt: now + 1000 }
      const { secret } = await keys.issue(organizationId, input, operator)
      await identify(keyCache, 'bearer', secret)
      now += 1000
      await refused(identify(keyCache, 'bearer', secret), 'credential_expired')
      assert.equal(await keys.announceExpired(), 1)
      assert.equal(await keys.announceExpired(), 0)
      now -= 2 * 86_400_000
      await refused(identify(keyCache, 'bearer', secret), 'credential_expired')
    })

    test('a rotated key keeps its id; the old secret works for the overlap and can be ended early', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, organizationId, keyCache } = await openKeys(store)
      const first = await keys.issue(organizationId, { name: 'ci', scheme: 'bearer' }, operator)
      await identify(keyCache, 'bearer', first.secret)
      const second = await keys.rotate(organizationId, first.key.id, {
        overlapMs: 3_600_000,
        actor: operator,
      })
      assert.equal(second.key.id, first.key.id)
      assert.equal((await identify(keyCache, 'bearer', first.secret)).keyId, first.key.id)
      assert.equal((await identify(keyCache, 'bearer', second.secret)).keyId, first.key.id)

      const { digest } = await identify(keyCache, 'bearer', first.secret)
      await store.transaction(
        async (tx) =>
          await keySecrets.noteUses(tx, [
            {
              organizationId,
              keyId: first.key.id,
              digest: digestToHex(digest),
              at: tx.now,
              address: '127.0.0.9',
              agent: 'old',
              targetId: undefined,
            },
          ]),
      )
      const [current, old] = (await keys.get(organizationId, first.key.id)).secrets
      assert.deepEqual([current?.lastUsedAt, old?.lastUsedAddress], [undefined, '127.0.0.9'])

      await keys.endOldSecret(organizationId, first.key.id, operator)
      await refused(identify(keyCache, 'bearer', first.secret), 'credential_expired')
      await identify(keyCache, 'bearer', second.secret)
    })

    test('a key is shown with the secret of its last rotation, also after the clock was set back', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, organizationId } = await openKeys(store)
      const { key } = await keys.issue(organizationId, { name: 'ci', scheme: 'bearer' }, operator)
      await store.transaction(
        async (tx) =>
          await tx.query
            .updateTable('key_secret')
            .set({ created_at: tx.now + 60_000 })
            .execute(),
      )
      const by = { overlapMs: 3_600_000, actor: operator }
      const { secret } = await keys.rotate(organizationId, key.id, by)
      const [current, old] = (await keys.get(organizationId, key.id)).secrets
      assert.deepEqual([current?.hint, old?.validUntil !== undefined], [secret.hint, true])
    })

    test('an old secret that nobody uses any more is announced once, one in use is not', async () => {
      await using place = await emptyPlace(engine)
      let now = 1_900_000_000_000
      const moving: Clock = { now: () => now, monotonic: () => performance.now() }
      await using store = await place.open({ clock: moving })
      const { keys, organizationId } = await openKeys(store, moving)
      const { key } = await keys.issue(organizationId, { name: 'ci', scheme: 'bearer' }, operator)
      assert.equal(await keys.announceSilent(), 0)
      await keys.rotate(organizationId, key.id, { overlapMs: 24 * 3_600_000, actor: operator })
      now += 30 * 60_000
      assert.equal(await keys.announceSilent(), 0)
      now += 31 * 60_000
      assert.equal(await keys.announceSilent(), 1)
      assert.equal(await keys.announceSilent(), 0)
    })

    test('another organization’s key does not exist', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, organizationId } = await openKeys(store)
      const other = await new Organizations({ store }).create({ slug: 'other' }, operator)
      const { key } = await keys.issue(organizationId, { name: 'ci', scheme: 'bearer' }, operator)
      for (const attempt of [
        () => keys.get(other.id, key.id),
        () => keys.revoke(other.id, key.id, operator),
        () => keys.rotate(other.id, key.id, { overlapMs: 0, actor: operator }),
        () => keys.endOldSecret(other.id, key.id, operator),
        () => keys.edit(other.id, key.id, { input: { name: 'mine' }, actor: operator }),
      ]) {
        await refused(attempt(), 'not_found')
      }
      assert.deepEqual(await keys.list(other.id, { limit: 10 }), [])
    })

    test('an unknown key of the right shape is refused and remembered nowhere', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keyCache } = await openKeys(store)
      const stranger = mintCredential(schemes.bearer.prefix).secret
      await refused(identify(keyCache, 'bearer', stranger), 'credential_invalid')
      assert.equal(keyCache.size, 0)
    })

    test('a key that nobody can check at the moment lets nobody in', async () => {
      await using place = await emptyPlace(engine)
      const store = await place.open()
      const { keys, organizationId, keyCache } = await openKeys(store)
      const { secret } = await keys.issue(
        organizationId,
        { name: 'ci', scheme: 'bearer' },
        operator,
      )
      await store[Symbol.asyncDispose]()
      await refused(identify(keyCache, 'bearer', secret), 'credential_unverifiable')
    })

    test('values that make no sense are refused in a sentence', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, organizationId } = await openKeys(store)
      for (const input of [
        { name: ' ' },
        { name: 'x'.repeat(101) },
        { name: 'ci', expiresAt: 1 },
        { name: 'ci', cidrs: ['10.0.0.0/40'] },
        { name: 'ci', cidrs: [] },
        { name: 'ci', grants: [] },
      ]) {
        await refused(
          keys.issue(organizationId, { ...input, scheme: 'bearer' }, operator),
          'invalid_input',
        )
      }
    })
  })
}

const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

async function openKeys(store: Store, at: Clock = clock) {
  const organizations = new Organizations({ store })
  const { id: organizationId }: { id: OrganizationId } = await organizations.create(
    { slug: 'acme' },
    operator,
  )
  const keys = new Keys({ store, clock: at })
  const keyCache = createKeyCache({ store, clock: at, enabledSchemes, capacity: 100 })
  return { keys, keyCache, organizationId }
}

async function identify(
  keyCache: ReturnType<typeof createKeyCache>,
  scheme: Scheme,
  secret: Secret,
) {
  const text = secret.reveal()
  const headers =
    scheme === 'bearer'
      ? { xApiKey: [], authorization: [`Bearer ${text}`] }
      : { xApiKey: [text], authorization: [] }
  const presented = readKey(headers, enabledSchemes)
  if (presented instanceof Problem) throw presented
  return await keyCache.identify(presented)
}

async function refused(attempt: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(attempt, (error) => error instanceof Problem && error.code === code, code)
}
