import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FailedCredentials } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { rateShares, type Store } from '../../src/store/index.ts'
import {
  nodeOver,
  nodesOver,
  rate,
  subjectForTests,
  type RatesNode,
} from '../harness/rate-nodes.ts'
import { engines, storeForTests } from '../harness/store.ts'
import { until } from '../harness/webhooks.ts'
import { randomFrom } from '../harness/random.ts'

// These tests note an admitted call at most this long after the node admitted it.
const slackSeconds = 0.02

for (const engine of engines) {
  describe(`shared rates on ${engine}`, { timeout: 120_000 }, () => {
    test('one node alone spends whole rates and writes nothing', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using node = await nodeOver(place.store)
      // The node needs a moment to notice that it is alone; until then it treats the rate as shared.
      await until(() => !node.rates.state().isShared, 'it knows that it is alone')
      const subject = subjectForTests()
      let admitted = 0
      for (let call = 0; call < 50; call++) if (await node.pass(subject)) admitted += 1
      assert.ok(admitted >= 20)
      assert.deepEqual(await rateShares.listOf(place.store.calls, [subject.id]), [])
      assert.equal(node.rates.state().isShared, false)
    })

    test('three nodes admit one limit together: even, all on one node, and moving', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another(), place.store])
      const subject = subjectForTests()
      const everywhere = (): RatesNode[] => nodes.list
      const first = (): RatesNode[] => nodes.list.slice(0, 1)
      const moving = (elapsedMs: number): RatesNode[] => [
        nodes.list[Math.floor(elapsedMs / 1000) % 3]!,
      ]
      // Each pattern of calls starts right after the previous one, so that no burst has accumulated.
      const start = performance.now()
      let admitted = 0
      for (const asked of [everywhere, first, moving]) {
        const until = performance.now() + 2500
        while (performance.now() < until) {
          for (const node of asked(performance.now() - start)) {
            if (await node.pass(subject)) admitted += 1
          }
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
      }
      const seconds = (performance.now() - start) / 1000
      const most = rate.calls * seconds + rate.burst!
      assert.ok(admitted <= most + 1, `${admitted} of ${most.toFixed(0)}`)
      assert.ok(admitted >= most * 0.5, `${admitted} of ${most.toFixed(0)}`)
    })

    test('no stretch of time, however short, admits more than its part of the rate and one burst', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another(), place.store])
      const random = randomFrom(7)
      const subjects = Array.from({ length: 12 }, (_, at) => ({
        subject: subjectForTests(),
        of: { calls: 60 + 20 * at, perSeconds: 1, burst: [10, 40, 80][at % 3]! },
        // The token bucket that a single node would keep.
        tokens: [10, 40, 80][at % 3]!,
        filledAt: performance.now(),
        lowest: 0,
        demands: [0, 0, 0],
      }))
      const endsAt = performance.now() + 6000
      for (let round = 0; performance.now() < endsAt; round++) {
        for (const one of subjects) {
          // Calls move to other nodes, come in bursts and stop for a while.
          if (random() < 0.01) one.demands = one.demands.map(() => Math.floor(random() * 4) ** 2)
          for (const [at, demand] of one.demands.entries()) {
            const node = nodes.list[at]!
            for (let call = 0; call < demand; call++) {
              void node.pass(one.subject, one.of).then((isAdmitted) => {
                if (!isAdmitted) return undefined
                const now = performance.now()
                const refilled = ((now - one.filledAt) * one.of.calls) / 1000
                one.tokens = Math.min(one.of.burst, one.tokens + refilled) - 1
                one.filledAt = now
                one.lowest = Math.min(one.lowest, one.tokens + one.of.calls * slackSeconds)
                return undefined
              })
            }
          }
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      for (const { of, lowest } of subjects) {
        assert.ok(lowest >= -1, `${-lowest} calls too many at ${JSON.stringify(of)}`)
      }
    })

    test('thousands of keys that are called at once get their shares in a few transactions, and none is refused', async () => {
      await using place = await storeForTests(engine, systemClock)
      let transactions = 0
      const counted: Store = {
        ...place.store,
        transactionOnCalls: async (work) => {
          transactions += 1
          return await place.store.transactionOnCalls(work)
        },
      }
      await using nodes = await nodesOver([counted, await place.another()])
      transactions = 0
      const startedAt = performance.now()
      const subjects = Array.from({ length: 2000 }, subjectForTests)
      const [node] = nodes.list
      const passed = await Promise.all(subjects.map(async (subject) => await node!.pass(subject)))
      // The node's tick, every 250 ms, may request shares for keys whose calls already wait, so a key may be in two
      // batches.
      const ticks = (performance.now() - startedAt) / 250
      assert.ok(passed.every(Boolean), `${passed.filter((isPassed) => !isPassed).length} refused`)
      assert.ok(transactions <= (2 * 2000) / 64 + 3 * ticks + 5, `${transactions} transactions`)
    })

    test('a call that comes rarely passes on every node, also of a small limit', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another(), place.store])
      const small = { calls: 6, perSeconds: 60 }
      let refused = 0
      for (let round = 0; round < 10; round++) {
        const subject = subjectForTests()
        for (const node of nodes.list) if (!(await node.pass(subject, small))) refused += 1
      }
      // If the machine hangs for 1.5 s, a node counts as dead and its share as spent, so a few calls may be refused.
      assert.ok(refused <= 3, `${refused} of 30 were refused`)
    })

    test('what was spent goes with the share: nothing is refilled by moving it', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another()])
      const slow = { calls: 20, perSeconds: 3600 }
      const subject = subjectForTests()
      let admitted = 0
      await until(async () => {
        for (const node of nodes.list) {
          for (let call = 0; call < 30; call++) if (await node.pass(subject, slow)) admitted += 1
        }
        return admitted >= 20
      }, 'the whole burst was admitted')
      for (let round = 0; round < 20; round++) {
        for (const node of nodes.list) if (await node.pass(subject, slow)) admitted += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      assert.equal(admitted, 20)
    })

    test('what a node that died held is taken over by the others', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using survivor = await nodeOver(place.store)
      const dying = await nodeOver(await place.another())
      const low = { calls: 10, perSeconds: 1 }
      await until(() => survivor.rates.state().nodes === 2, 'they know each other')
      const subject = subjectForTests()
      await until(async () => {
        for (let call = 0; call < 5; call++) await dying.pass(subject, low)
        const [most] = await rateShares.listShares(place.store.calls, subject)
        return (most?.share ?? 0) > 900_000
      }, 'the one that will die holds nearly all')
      dying.die()
      await until(async () => {
        for (let call = 0; call < 5; call++) await survivor.pass(subject, low)
        const mine = await rateShares.listShares(place.store.calls, subject)
        return mine.some(({ share }) => share === 1_000_000) || !survivor.rates.state().isShared
      }, 'the survivor has it all')
    })

    test('three nodes keep one limit of failed credentials for a source, wherever it fails', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another(), place.store])
      // The limit refills so slowly that it gains nothing during the test.
      const failures = { calls: 1, perSeconds: 3600, burst: 100 }
      const limits = nodes.list.map(
        ({ rates }) =>
          new FailedCredentials({ clock: systemClock, failures, shared: { rates, kind: 'key' } }),
      )
      const fail = async (node: number, address: string, times: number): Promise<number> => {
        let told = 0
        for (let at = 0; at < times; at++) {
          if ((await limits[node]?.failed(address)) === undefined) told += 1
        }
        return told
      }
      const rowsOf = async (address: string) =>
        await rateShares.listOf(place.store.calls, [`key_failures_of_${address}`])

      for (const node of [0, 1, 2]) assert.equal(await fail(node, '192.0.2.1', 5), 5)
      assert.deepEqual(await rowsOf('192.0.2.1'), [])

      for (const [asked, atLeast] of [
        [[0], 83],
        [[0, 1, 2], 98],
      ] as const) {
        let round = 0
        let told = 0
        // If the machine hangs, a node counts as dead and its share as spent. The test then tries another source.
        await until(async () => {
          const address = `10.0.${asked.length}.${round++ % 250}`
          told = 0
          for (let turn = 0; turn < 20 && told < atLeast; turn++) {
            for (const node of asked) told += await fail(node, address, 10)
          }
          for (const node of [0, 1, 2]) told += await fail(node, address, 50)
          assert.ok(told <= 100, `${told} failures of 100`)
          if (told < atLeast) return false
          assert.notEqual(limits[0]?.beforeLookUp(address), undefined)
          return true
        }, `a source that fails on ${asked.length} of the nodes has what no other node needs`)
      }
      assert.equal(limits[0]?.beforeLookUp('192.0.2.3'), undefined)
    })

    test('strangers with many addresses hold no more than a few shares and rows', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another()])
      const failures = { calls: 1, perSeconds: 3600, burst: 2 }
      const limits = nodes.list.map(
        ({ rates }) =>
          new FailedCredentials({ clock: systemClock, failures, shared: { rates, kind: 'key' } }),
      )
      await Promise.all(
        Array.from({ length: 1000 }, async (_, at) =>
          limits[at % 2]?.failed(`10.${Math.floor(at / 250)}.0.${at % 250}`),
        ),
      )
      for (const { rates } of nodes.list) assert.ok(rates.state().subjects <= 256)
      const { subjects } = await rateShares.countShares(place.store.calls)
      assert.ok(subjects <= 512, `${subjects} subjects`)
    })

    test('a rate that counts on each node asks nobody', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another()])
      const subject = subjectForTests()
      for (const node of nodes.list) {
        const verdict = node.rates.ask({ subject, rate, local: true })
        assert.ok(!(verdict instanceof Promise) && verdict.admitted)
      }
      assert.deepEqual(await rateShares.listOf(place.store.calls, [subject.id]), [])
    })
  })
}
