import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock as clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { KeyId, OrganizationId, TargetId } from '../ids.ts'
import { createOpenCalls } from './open-calls.ts'

describe('open calls', () => {
  test("are checked again when their key or its organization changes, and never for another organization's sake", async () => {
    using world = openWorld()
    world.call('key_a1', 'org_a')
    world.call('key_a2', 'org_a')
    world.call('key_b', 'org_b')
    for (const [changed, checked] of [
      ['org_b', ['key_b']],
      ['org_c', []],
      ['org_a', ['key_a1', 'key_a2']],
      ['key_a2', ['key_a2']],
      [undefined, ['key_a1', 'key_a2', 'key_b']],
    ] as const) {
      assert.deepEqual(await world.checkedAfter(changed), checked, changed)
    }
  })

  test('of an organization that changes again during its check are checked again', async () => {
    using world = openWorld()
    for (let at = 0; at < 40; at++) world.call(`key_${at}`, 'org_a')
    world.change('org_a')
    assert.ok(world.checked.length < 40)
    assert.equal((await world.checkedAfter('org_a')).length, 80)
  })

  test('of thousands of keys are checked some at a time, so that the loop turns between', async () => {
    using world = openWorld()
    for (let at = 0; at < 2000; at++) world.call(`key_${at}`, at % 2 === 0 ? 'org_a' : 'org_b')
    for (const changed of ['org_a', undefined] as const) {
      world.change(changed)
      const expected = changed === undefined ? 2000 : 1000
      let [most, before] = [0, 0]
      for (let turns = 0; turns <= expected && before < expected; turns++) {
        most = Math.max(most, world.checked.length - before)
        before = world.checked.length
        await setImmediate()
      }
      assert.equal(before, expected)
      assert.ok(most <= 32, `${most} in one turn`)
      world.checked.length = 0
    }
  })

  test('are cut when their organization is gone', async () => {
    using world = openWorld()
    world.call('key_a', 'org_a')
    world.call('key_b', 'org_b')
    world.refusal = new Problem('credential_invalid')
    await world.checkedAfter('org_a')
    assert.deepEqual(world.cut, ['key_a'])
  })

  test('that could not be checked after a change, because the database was away, are checked until they are', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    using world = openWorld()
    world.call('key_a', 'org_a')
    world.refusal = new Problem('credential_unverifiable')
    await world.checkedAfter('key_a')
    t.mock.timers.tick(500)
    assert.deepEqual(await world.checkedNow(), ['key_a'])
    assert.deepEqual(world.cut, [])
    world.refusal = new Problem('credential_revoked')
    t.mock.timers.tick(500)
    assert.deepEqual(await world.checkedNow(), ['key_a'])
    assert.deepEqual(world.cut, ['key_a'])
    t.mock.timers.tick(500)
    assert.deepEqual(await world.checkedNow(), [])
  })

  test('end when their key does, also if its end was set or moved while they were open', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    using world = openWorld()
    const past = clock.now() - 1
    const later = clock.now() + 600_000
    world.call('key_endless', 'org_a')
    world.call('key_short', 'org_b', { expiresAt: past })
    world.expiresAt = later
    await world.checkedAfter('org_b')
    world.expiresAt = past
    await world.checkedAfter('org_a')
    t.mock.timers.tick(500)
    assert.deepEqual(world.cut, ['key_endless'])
  })

  test('that are streams are cut when a change of their target would refuse them now; others may end', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    using world = openWorld()
    world.call('key_stream', 'org_a', { target: 'tgt_1', isStream: true })
    world.call('key_other', 'org_a', { target: 'tgt_2', isStream: true })
    const becomesStream = world.call('key_call', 'org_a', { target: 'tgt_1' })
    world.refusedNow = new Problem('target_disabled')
    world.changeTarget('tgt_1')
    assert.deepEqual(await world.checkedNow(), [])
    assert.deepEqual(world.cut, ['key_stream'])
    becomesStream.isStream = true
    t.mock.timers.tick(500)
    assert.deepEqual(world.cut, ['key_stream', 'key_call'])
  })

  test('that are streams are cut when their key loses the right to them, and stay where it is given back', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    using world = openWorld()
    const call = world.call('key_a', 'org_a')
    world.refusedNow = new Problem('target_not_found')
    await world.checkedAfter('key_a')
    world.refusedNow = undefined
    await world.checkedAfter('key_a')
    call.isStream = true
    t.mock.timers.tick(500)
    assert.deepEqual(world.cut, [])
    world.refusedNow = new Problem('target_not_found')
    await world.checkedAfter('key_a')
    assert.deepEqual(world.cut, ['key_a'])
  })

  test('of one key are a thousand at most, and a refused one counts nothing', () => {
    using world = openWorld()
    for (let at = 0; at < 1000; at++) world.call('key_a', 'org_a')
    assert.throws(() => world.call('key_a', 'org_a'), { code: 'rate_limited' })
    assert.equal(world.open.size, 1000)
    world.call('key_b', 'org_a')
    world.end('key_a')
    world.call('key_a', 'org_a')
    assert.throws(() => world.call('key_a', 'org_a'), { code: 'rate_limited' })
    assert.equal(world.open.size, 1001)
  })

  test('leave lists behind for a few keys only, and are checked again in a list that was empty', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    using world = openWorld()
    for (let at = 0; at < 256; at++) {
      world.call(`key_${at}`, 'org_a')
      world.end(`key_${at}`)
    }
    t.mock.timers.tick(500)
    assert.equal(world.open.lists, 256)
    assert.equal(world.open.size, 0)
    world.call('key_7', 'org_a')
    assert.deepEqual(await world.checkedAfter('key_7'), ['key_7'])
    assert.deepEqual(await world.checkedAfter('org_a'), ['key_7'])
    world.call('key_256', 'org_a')
    t.mock.timers.tick(500)
    assert.equal(world.open.lists, 2)
    assert.deepEqual(await world.checkedAfter('org_a'), ['key_256', 'key_7'])
  })
})

/** Creates the register of open calls over a fake key cache. */
function openWorld() {
  const checked: string[] = []
  const cut: string[] = []
  let change: (changed: KeyId | OrganizationId | undefined) => void = () => undefined
  const world = {
    ...{ checked, cut },
    refusal: undefined as Problem | undefined,
    /** The expiry time that a recheck reports for every key. */
    expiresAt: undefined as number | undefined,
    /** Why every call would be refused now, although its key is good. */
    refusedNow: undefined as Problem | undefined,
  }
  let changeTarget: (targetId: TargetId | undefined) => void = () => undefined
  const targetCache = { onChange: (heard: typeof changeTarget) => void (changeTarget = heard) }
  const judgeAgain = async () => world.refusedNow
  const keyCache = {
    onChange: (heard: typeof change) => void (change = heard),
    recheck: async ({ keyId }: { readonly keyId: string }) => {
      checked.push(keyId)
      return world.refusal ?? { expiresAt: world.expiresAt }
    },
  }
  const log = { error: assert.ifError }
  const calls = createOpenCalls({ keyCache, targetCache, judgeAgain, clock, log } as never)
  /** How to end the newest call of each key. */
  const ends = new Map<KeyId, () => void>()
  return Object.assign(world, {
    open: calls,
    end: (keyId: KeyId) => ends.get(keyId)?.(),
    change: (changed: KeyId | OrganizationId | undefined) => change(changed),
    changeTarget: (targetId: TargetId) => changeTarget(targetId),
    /** Opens a call; returns its exchange. */
    call(
      keyId: KeyId,
      organizationId: OrganizationId,
      {
        expiresAt,
        target,
        isStream = false,
      }: { expiresAt?: number; target?: TargetId; isStream?: boolean } = {},
    ): { isStream: boolean } {
      const principal = { keyId, organizationId, digest: keyId, expiresAt }
      const exchange = { started: true, isStream, sever }
      const call = {
        ...{ principal, exchange, current: principal, refusedNow: undefined },
        target: target === undefined ? undefined : { id: target },
      }
      function sever(): void {
        cut.push(keyId)
        calls.remove(call as never, keyId)
      }
      calls.add(call as never, keyId)
      ends.set(keyId, () => calls.remove(call as never, keyId))
      return exchange
    },
    /** Triggers a change, waits until no more checks follow, and returns the checked keys in the order of their ids. */
    async checkedAfter(changed: KeyId | OrganizationId | undefined): Promise<string[]> {
      change(changed)
      return await this.checkedNow()
    },
    /** Waits until no more checks follow, and returns the checked keys in the order of their ids. */
    async checkedNow(): Promise<string[]> {
      for (let before = -1; before < checked.length;) {
        before = checked.length
        await setImmediate()
        await setImmediate()
      }
      return checked.splice(0).toSorted()
    },
    [Symbol.dispose]: () => calls[Symbol.dispose](),
  })
}
