import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createKeyCache, Keys, type KeyPrincipal, type Scheme } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { Problem } from '../../src/errors.ts'
import { createId, type KeyId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { digestBytes, type Secret } from '../../src/secrets/index.ts'
import type { Actor, Store } from '../../src/store/index.ts'
import { emptyPlace, engines } from './engines.ts'

const operator: Actor = { kind: 'operator' }
const enabledSchemes: readonly Scheme[] = ['x-api-key', 'bearer']

for (const engine of engines) {
  describe(`remembered keys on ${engine}`, () => {
    test('a revocation that overlaps the read of a key is not overlooked, then or later', async () => {
      await using world = await openWorld(engine)
      const { key, secret } = await world.issue('acme')
      const resume = world.holdNextRead()
      const asked = world.identify(secret)
      await world.keys.revoke(key.organizationId, key.id, operator)
      resume()
      assert.equal(await asked, 'credential_revoked')
      assert.equal(world.known(secret), 'credential_revoked')
    })

    test('a change that reaches a read of the same key under way is in what is remembered', async () => {
      await using world = await openWorld(engine)
      const { key, secret } = await world.issue('acme')
      const resume = world.holdNextRead()
      const asked = world.identify(secret)
      const input = { name: 'ci', cidrs: ['192.0.2.0/24'] }
      await world.keys.edit(key.organizationId, key.id, { input, actor: operator })
      resume()
      assert.deepEqual(principalIn(await asked).cidrs, input.cidrs)
      assert.deepEqual(principalIn(world.known(secret)).cidrs, input.cidrs)
    })

    test('both secrets of a key go with it, and no other key does', async () => {
      await using world = await openWorld(engine)
      const { key, secret } = await world.issue('acme')
      const neighbour = await world.issue('acme')
      const rotated = await world.keys.rotate(key.organizationId, key.id, rotation)
      for (const each of [secret, rotated.secret, neighbour.secret]) await world.identify(each)
      assert.equal(principalIn(world.known(secret)).isOldSecret, true)
      assert.equal(principalIn(world.known(rotated.secret)).isOldSecret, false)
      assert.equal(world.keyCache.size, 3)
      await world.keys.revoke(key.organizationId, key.id, operator)
      assert.equal(world.known(secret), 'unknown')
      assert.equal(world.known(rotated.secret), 'unknown')
      assert.equal(principalIn(world.known(neighbour.secret)).keyId, neighbour.key.id)
      assert.equal(await world.identify(secret), 'credential_revoked')
      assert.equal(await world.identify(rotated.secret), 'credential_revoked')
    })

    test("an organization's change reaches all of its keys at once, and no one else's", async () => {
      await using world = await openWorld(engine)
      const own = await Promise.all([world.issue('acme'), world.issue('acme')])
      const other = await world.issue('other')
      for (const { secret } of [...own, other]) await world.identify(secret)
      const rateLimit = { calls: 5, perSeconds: 1 }
      const id = own[0].key.organizationId
      const heard: (string | undefined)[] = []
      world.keyCache.onChange((changed) => heard.push(changed))
      await world.organizations.change(id, { rateLimit }, operator)
      assert.deepEqual([...new Set(heard)], [id])
      assert.ok(principalIn(world.known(other.secret)))
      for (const { secret } of own) {
        assert.equal(world.known(secret), 'unknown')
        assert.deepEqual(principalIn(await world.identify(secret)).organizationRate, rateLimit)
        assert.deepEqual(principalIn(world.known(secret)).organizationRate, rateLimit)
      }
    })

    test('an organization that is deleted during the read of a key admits nobody', async () => {
      await using world = await openWorld(engine)
      const { key, secret } = await world.issue('acme')
      const resume = world.holdNextRead()
      const asked = world.identify(secret)
      await world.organizations.remove(key.organizationId, operator)
      resume()
      assert.equal(await asked, 'credential_invalid')
      assert.equal(world.known(secret), 'unknown')
    })

    test('keys with the same limits share them, and a key keeps what is its own', async () => {
      await using world = await openWorld(engine)
      const input = { grants: [{ target: 'echo', methods: ['GET'] }], quota } as const
      const one = await world.issue('acme', input)
      const expiresAt = Math.floor(Date.now() / 1000) * 1000 + 86_400_000
      const two = await world.issue('acme', { ...input, expiresAt })
      await world.identify(one.secret)
      await world.identify(two.secret)
      const [first, second] = [one, two].map(({ secret }) => principalIn(world.known(secret)))
      assert.ok(first && second)
      assert.equal(first.grants, second.grants)
      assert.deepEqual([first.grants, first.quota], [input.grants, quota])
      assert.deepEqual([first.keyId, second.keyId], [one.key.id, two.key.id])
      assert.deepEqual([first.expiresAt, second.expiresAt], [undefined, expiresAt])
      const description = await world.keyCache.describe(first)
      assert.deepEqual(description, { name: 'ci', hint: one.secret.hint })
    })

    test('a key whose id is not one of ours works, and is read for each call', async () => {
      await using world = await openWorld(engine)
      const { key, secret } = await world.issue('acme')
      await world.giveId(key.id, `${createId('key')}u`)
      assert.ok(principalIn(await world.identify(secret)))
      assert.equal(world.keyCache.size, 0)
      assert.ok(principalIn(await world.identify(secret)))
    })
  })
}

const rotation = { overlapMs: 60_000, actor: operator }
const quota = { calls: 100, period: 'day' } as const

type Found = KeyPrincipal | string

function principalIn(found: Found): KeyPrincipal {
  assert.ok(typeof found === 'object', JSON.stringify(found))
  return found
}

/** Opens a node with a key cache; the node's next read can be held back after the database has answered. */
async function openWorld(engine: (typeof engines)[number]) {
  const place = await emptyPlace(engine)
  const store = await place.open({ isNode: true })
  const reads = heldReads(store)
  const clock = systemClock
  const keyCache = createKeyCache({ store: reads.store, clock, enabledSchemes, capacity: 100 })
  const keys = new Keys({ store, clock })
  const organizations = new Organizations({ store })
  const bySlug = new Map<string, Promise<{ id: `org_${string}` }>>()
  return {
    keyCache,
    keys,
    organizations,
    holdNextRead: reads.holdNext,
    async issue(slug: string, input: object = {}) {
      const organization = bySlug.get(slug) ?? organizations.create({ slug }, operator)
      bySlug.set(slug, organization)
      const { id } = await organization
      return await keys.issue(id, { name: 'ci', scheme: 'bearer', ...input }, operator)
    },
    /** Finds the principal of a secret, or the code of its refusal. */
    async identify(secret: Secret): Promise<Found> {
      const text = secret.reveal()
      return await asFound(async () => await keyCache.identify({ text, scheme: 'bearer' }))
    },
    known(secret: Secret): Found {
      try {
        return keyCache.known(digestBytes(secret.reveal())) ?? 'unknown'
      } catch (error) {
        return codeOf(error)
      }
    },
    async giveId(from: KeyId, to: string): Promise<void> {
      await store.transaction(async ({ query }) => {
        const row = await query.selectFrom('api_key').selectAll().executeTakeFirstOrThrow()
        await query
          .insertInto('api_key')
          .values({ ...row, id: to })
          .execute()
        await query.updateTable('key_secret').set({ key_id: to }).execute()
        await query.deleteFrom('api_key').where('id', '=', from).execute()
      })
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

async function asFound(find: () => Promise<KeyPrincipal>): Promise<Found> {
  try {
    return await find()
  } catch (error) {
    return codeOf(error)
  }
}

function codeOf(error: unknown): string {
  assert.ok(error instanceof Problem, String(error))
  return error.code
}

/** Wraps a store so that its next read can be held back: the read runs at once, but its result waits for a release. */
function heldReads(store: Store) {
  let held: Promise<void> | undefined
  const query = new Proxy(store.query, {
    get(target, name) {
      if (name !== 'executeQuery') {
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      }
      return async (...asked: Parameters<typeof target.executeQuery>) => {
        const wait = held
        held = undefined
        const found = await target.executeQuery(...asked)
        await wait
        return found
      }
    },
  })
  return {
    store: { ...store, query },
    holdNext(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
  }
}
