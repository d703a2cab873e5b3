import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SharedRates, type KeyPrincipal } from '../../src/access/index.ts'
import { Problem } from '../../src/errors.ts'
import { createAnnouncer } from '../../src/calls/notices.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import type { CallRecord, Store } from '../../src/store/index.ts'
import { createLimits, createQuotas, type GuardedTarget } from '../../src/targets/index.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'
import { eventsThatFit } from '../harness/events.ts'

for (const engine of engines) {
  describe(`traffic on ${engine}`, () => {
    const clock = steadyClock()
    let opened: TestStore
    let store: Store
    let organizationId: OrganizationId
    before(async () => {
      opened = await storeForTests(engine, clock)
      store = opened.store
      const organizations = new Organizations({ store })
      organizationId = (await organizations.create({ slug: 'acme' }, { kind: 'operator' })).id
    })
    after(async () => await opened[Symbol.asyncDispose]())

    /** Makes a new key with a quota of this many calls per day. */
    function keyWith(calls: number): KeyPrincipal {
      return {
        organizationId,
        keyId: createId('key'),
        quota: { calls, period: 'day' },
      } as unknown as KeyPrincipal
    }

    function nodeOver(at: Store) {
      const quotas = createQuotas({ store: at, clock })
      const limits = createLimits({
        clock,
        quotas,
        rates: new SharedRates({
          store: at,
          clock,
          onError: (error) => assert.fail(String(error)),
        }),
      })
      const target = { settings: {} } as GuardedTarget
      return {
        flush: async () => await quotas.flush(),
        close: async () => await quotas[Symbol.asyncDispose](),
        async pass(key: KeyPrincipal): Promise<string> {
          try {
            const told = await limits.ask(key, target, true)
            return told instanceof Problem ? told.code : 'passed'
          } catch (error) {
            if (!(error instanceof Problem)) throw error
            return error.code
          }
        },
      }
    }

    /** Returns the types and data of the events after the sequence number `since`. */
    async function announced(since: number) {
      const rows = await store.query
        .selectFrom('event')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('sequence', '>', since)
        .orderBy('sequence')
        .execute()
      return rows.map(({ type, body }) => ({
        type,
        data: (JSON.parse(Buffer.from(body).toString()) as { data: Record<string, unknown> }).data,
      }))
    }

    async function eventsSoFar(): Promise<number> {
      const rows = await store.query.selectFrom('event').select('sequence').execute()
      return Math.max(0, ...rows.map(({ sequence }) => sequence))
    }

    test('of many calls at once exactly the quota passes, also when nobody has counted before', async () => {
      const node = nodeOver(store)
      const key = keyWith(10)
      const codes = await Promise.all(Array.from({ length: 50 }, async () => await node.pass(key)))
      assert.equal(codes.filter((code) => code === 'passed').length, 10)
      assert.equal(codes.filter((code) => code === 'quota_exhausted').length, 40)
    })

    test('a quota is one for all nodes, and its warning and its end are announced once', async () => {
      const since = await eventsSoFar()
      const [one, two] = [nodeOver(store), nodeOver(await opened.another())]
      const key = keyWith(10)
      for (let at = 0; at < 8; at++) assert.equal(await one.pass(key), 'passed')
      await one.flush()
      assert.equal(await two.pass(key), 'passed')
      assert.equal(await two.pass(key), 'passed')
      assert.equal(await two.pass(key), 'quota_exhausted')
      await two.flush()
      // Node one has spent every call that it claimed, and flushing gives it no more. For its next call, nothing is
      // left to claim.
      await one.flush()
      await one.flush()
      assert.equal(await one.pass(key), 'quota_exhausted')
      const said = await announced(since)
      assert.deepEqual(
        said.map(({ type, data }) => [type, data['used'], data['key_id'] === key.keyId]),
        [
          ['quota.warning', 8, true],
          ['quota.exhausted', 10, true],
        ],
      )
    })

    test('six nodes at full speed pass exactly the quota, whoever asks, and spend what others gave back', async () => {
      const stores = [store, await opened.another()]
      for (const calls of [100, 1000]) {
        const nodes = Array.from({ length: 6 }, (_, at) => nodeOver(stores[at % 2]!))
        const key = keyWith(calls)
        let passed = 0
        const isOver = new AbortController()
        const flushing = Promise.all(
          nodes.map(async (node) => {
            while (!isOver.signal.aborted) {
              await node.flush()
              await new Promise((resolve) => setTimeout(resolve, 10))
            }
          }),
        )
        await Promise.all(
          nodes.flatMap((node, at) =>
            Array.from({ length: 4 }, async () => {
              // Three of the nodes stop early, with claimed calls that they will not use.
              for (let call = 0; call < (at < 3 ? calls / 40 : calls); call++) {
                if ((await node.pass(key)) === 'passed') passed += 1
              }
            }),
          ),
        )
        isOver.abort()
        await flushing
        assert.equal(passed, calls)
        for (const node of nodes) await node.close()
      }
    })

    test('what a node claimed and did not spend is there for others once it has stopped', async () => {
      const [one, two] = [nodeOver(store), nodeOver(await opened.another())]
      const key = keyWith(1000)
      for (let at = 0; at < 20; at++) assert.equal(await one.pass(key), 'passed')
      await one.flush()
      await one.close()
      let passed = 0
      while ((await two.pass(key)) === 'passed') passed += 1
      assert.equal(passed, 980)
    })

    test('a quota that is made smaller is not exceeded by what was claimed before', async () => {
      const node = nodeOver(store)
      const key = keyWith(1000)
      for (let at = 0; at < 20; at++) assert.equal(await node.pass(key), 'passed')
      await node.flush()
      const smaller = { ...key, quota: { calls: 25, period: 'day' } } as KeyPrincipal
      let passed = 0
      while ((await node.pass(smaller)) === 'passed') passed += 1
      assert.equal(passed, 5)
    })

    test('after the database went back in time a node spends nothing that it claimed before', async () => {
      const resets: (() => void)[] = []
      const feed = {
        ...store.feed,
        onReset: (reset: () => void) => void resets.push(reset),
      }
      const node = nodeOver({ ...store, feed })
      const key = keyWith(1000)
      for (let at = 0; at < 50; at++) assert.equal(await node.pass(key), 'passed')
      await node.flush()
      const other = nodeOver(await opened.another())
      for (const reset of resets) reset()
      let passed = 0
      while ((await other.pass(key)) === 'passed') passed += 1
      assert.ok(passed < 950, 'what was claimed stays claimed')
      assert.equal(await node.pass(key), 'quota_exhausted')
    })

    test('an announcement that fails lets nothing be counted twice, and is made later', async () => {
      const since = await eventsSoFar()
      let isDown = true
      const node = nodeOver({
        ...store,
        transaction: async (work) => {
          if (isDown) throw new Error('the database is away')
          return await store.transaction(work)
        },
      })
      const keys = [keyWith(2), keyWith(2)]
      for (const key of [...keys, ...keys]) assert.equal(await node.pass(key), 'passed')
      await assert.rejects(node.flush())
      isDown = false
      await node.flush()
      const fresh = nodeOver(store)
      for (const key of keys) assert.equal(await fresh.pass(key), 'quota_exhausted')
      const said = await announced(since)
      assert.deepEqual(
        said
          .map(({ type, data }) => `${type} ${String(data['key_id'])} ${String(data['used'])}`)
          .sort(),
        keys
          .flatMap(({ keyId }) => [`quota.exhausted ${keyId} 2`, `quota.warning ${keyId} 2`])
          .sort(),
      )
    })

    test('what two flushes at the same time find to write is written once', async () => {
      const node = nodeOver(store)
      const key = keyWith(10)
      for (let at = 0; at < 4; at++) await node.pass(key)
      await Promise.all([node.flush(), node.flush(), node.flush()])
      const fresh = nodeOver(await opened.another())
      for (let at = 0; at < 6; at++) assert.equal(await fresh.pass(key), 'passed')
      assert.equal(await fresh.pass(key), 'quota_exhausted')
    })

    function refusedCall(more: Partial<CallRecord> = {}): CallRecord {
      return {
        ...{ organizationId, keyId: createId('key'), targetId: createId('tgt'), at: clock.now() },
        ...{ refusal: 'rule_denied', stoppedAt: 'rules', address: '192.0.2.1', ...more },
      } as CallRecord
    }

    test('many refused calls are announced as one event that counts them, at most once a minute', async () => {
      const since = await eventsSoFar()
      const announcer = createAnnouncer(store, clock)
      const call = refusedCall()
      for (let at = 0; at < 1000; at++) announcer.refused(call)
      announcer.refused(refusedCall({ refusal: 'rate_limited', stoppedAt: 'limits' }))
      const nowMs = clock.now()
      await announcer.flush(nowMs)
      announcer.refused(call)
      await announcer.flush(nowMs + 59_000)
      assert.deepEqual(
        (await announced(since)).map(({ type, data }) => [type, data['code'], data['count']]),
        [
          ['call.refused', 'rule_denied', 1000],
          ['call.refused', 'rate_limited', 1],
        ],
      )
      await announcer.flush(nowMs + 60_000)
      assert.equal((await announced(since)).length, 3)
    })

    test('a key that came from a page is announced once an hour', async () => {
      const since = await eventsSoFar()
      const announcer = createAnnouncer(store, clock)
      const call = refusedCall({ agent: 'a browser' })
      announcer.exposed(call)
      announcer.exposed({ ...call, at: call.at + 3_599_000 })
      await announcer.flush(clock.now())
      announcer.exposed({ ...call, at: call.at + 3_600_000 })
      await announcer.flush(clock.now())
      const said = await announced(since)
      assert.deepEqual(
        said.map(({ type }) => type),
        ['api_key.exposed', 'api_key.exposed'],
      )
      assert.equal(said[0]?.data['address'], '192.0.2.1')
      assert.equal(said[0]?.data['agent'], 'a browser')
    })

    test('a clock that was set back by a day holds up no announcement for a day', async () => {
      const since = await eventsSoFar()
      const announcer = createAnnouncer(store, clock)
      const [call, nowMs] = [refusedCall(), clock.now()]
      announcer.refused(call)
      announcer.exposed(call)
      await announcer.flush(nowMs)
      announcer.refused(call)
      announcer.exposed({ ...call, at: call.at - 86_400_000 })
      await announcer.flush(nowMs - 86_400_000)
      const types = (await announced(since)).map(({ type }) => type)
      const both = ['api_key.exposed', 'call.refused']
      assert.deepEqual(types.toSorted(), [...both, ...both].toSorted())
    })

    test('an upstream is unhealthy after five failures in a row, and recovered at its next answer', async () => {
      const since = await eventsSoFar()
      const announcer = createAnnouncer(store, clock)
      const target = { id: createId('tgt'), organizationId, slug: 'up' } as GuardedTarget
      const tell = (...answers: boolean[]) => {
        for (const answered of answers) announcer.upstream(target, answered)
      }
      tell(false, false, false, false, true, false, false, false, false)
      await announcer.flush(clock.now())
      assert.deepEqual(await announced(since), [])
      tell(false, false, false, true, true)
      await announcer.flush(clock.now())
      const types = (await announced(since)).map(({ type }) => type)
      assert.deepEqual(types, ['target.unhealthy', 'target.recovered'])
    })

    test('what is due for an organization that a restored database does not know holds up no other', async () => {
      const since = await eventsSoFar()
      const announcer = createAnnouncer(store, clock)
      const unknown = createId('org')
      announcer.exposed({ ...refusedCall(), organizationId: unknown })
      announcer.exposed(refusedCall())
      await announcer.flush(clock.now())
      assert.equal((await announced(since)).length, 1)

      const quotas = createQuotas({ store, clock })
      const subject = { kind: 'key', quota: { calls: 1, period: 'day' } } as const
      for (const owner of [unknown, organizationId]) {
        const one = { ...subject, organizationId: owner, subjectId: createId('key') }
        await quotas.ask(one, clock.now())
        quotas.spend(one, clock.now())
      }
      await quotas.flush()
      const types = (await announced(since)).map(({ type }) => type)
      assert.deepEqual(types, ['api_key.exposed', 'quota.warning', 'quota.exhausted'])
      await quotas[Symbol.asyncDispose]()
    })

    test('what could not be written is announced when the database is there again', async () => {
      const since = await eventsSoFar()
      let isAway = true
      const announcer = createAnnouncer(
        {
          ...store,
          transaction: async (work) => {
            if (isAway) throw new Error('away')
            return await store.transaction(work)
          },
        },
        clock,
      )
      announcer.exposed(refusedCall())
      await assert.rejects(announcer.flush(clock.now()))
      isAway = false
      await announcer.flush(clock.now())
      assert.equal((await announced(since)).length, 1)
    })

    test('every event that was published here is what the catalogue says of its type', async () => {
      assert.ok((await eventsThatFit(store, organizationId)).length > 0)
    })
  })
}
