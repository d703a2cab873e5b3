import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { rateShares, type Store } from '../../src/store/index.ts'
import { nodeOver, nodesOver, subjectForTests, type RatesNode } from '../harness/rate-nodes.ts'
import { engines, storeForTests } from '../harness/store.ts'
import { until } from '../harness/webhooks.ts'

const pauseMs = 5

for (const engine of engines) {
  describe(`shared rates in trouble on ${engine}`, { timeout: 120_000 }, () => {
    test('a node that comes late to a busy key gets its part', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another()])
      const [late, first] = nodes.list as [RatesNode, RatesNode]
      const subject = subjectForTests()
      const over = new AbortController()
      const counts = new Map([late, first].map((node) => [node, 0]))
      const call = async (node: RatesNode): Promise<void> => {
        if (await node.pass(subject)) counts.set(node, (counts.get(node) ?? 0) + 1)
      }
      const press = async (node: RatesNode): Promise<void> => {
        const calls: Promise<void>[] = []
        while (!over.signal.aborted) {
          calls.push(call(node))
          await pause(pauseMs)
        }
        await Promise.all(calls)
      }
      const pressing = [press(first)]
      await until(() => (counts.get(first) ?? 0) >= 150, 'the first node holds the rate')
      pressing.push(press(late))
      try {
        await until(() => (counts.get(late) ?? 0) >= 100, 'the late node has had a second of calls')
      } finally {
        over.abort()
        await Promise.all(pressing)
      }
    })

    test('a rare first call on another node waits for a share and is not refused', async () => {
      await using place = await storeForTests(engine, systemClock)
      await using nodes = await nodesOver([place.store, await place.another()])
      const [one, other] = nodes.list as [RatesNode, RatesNode]
      const subjects = Array.from({ length: 4 }, subjectForTests)
      for (const subject of subjects) {
        for (let call = 0; call < 60; call++) await one.pass(subject, { calls: 50, perSeconds: 1 })
      }
      // Wait until the first node no longer counts the calls above as demand.
      await pause(2000)
      for (const subject of subjects) {
        assert.ok(await other.pass(subject, { calls: 50, perSeconds: 1 }))
      }
    })

    test('a transaction that fails refuses its own batch, and the next one is not disturbed', async () => {
      await using place = await storeForTests(engine, systemClock)
      let failures = 0
      let batches = 0
      const failing: Store = {
        ...place.store,
        transactionOnCalls: async (work) =>
          await place.store.transactionOnCalls(async (tx) => {
            const result = await work(tx)
            batches += 1
            if (failures === 0) return result
            failures -= 1
            throw new Error('the database gave up')
          }),
      }
      await using nodes = await nodesOver([failing, await place.another()])
      const node = nodes.list[0] as RatesNode
      const subjects = Array.from({ length: 300 }, subjectForTests)
      batches = 0
      failures = 1
      const all = await Promise.allSettled(
        subjects.map(async (subject) => await node.pass(subject)),
      )
      const refused = all.filter(({ status }) => status === 'rejected').length
      assert.ok(refused <= 64, `${refused} of 300 heard of one failure in ${batches} transactions`)
      for (const subject of subjects) assert.ok(await node.pass(subject))
    })

    test('a node that joins while the last one goes back to whole rates doubles nothing', async () => {
      await using place = await storeForTests(engine, systemClock)
      const subject = subjectForTests()
      let joined: Promise<RatesNode> | undefined
      const late: Store = {
        ...place.store,
        transactionOnCalls: async (work) => {
          const result = await place.store.transactionOnCalls(work)
          // Only the transaction that finds the node alone returns true. From then on, the node spends whole rates.
          if (result === true && joined === undefined) {
            joined = nodeOver(await place.another())
            await joined
            await place.store.transaction(async (tx) => {
              await Promise.resolve()
              tx.changed({ kind: 'node', organizationId: 'system', subjectId: 'node_other' })
            })
          }
          return result
        },
      }
      await using node = await nodeOver(late)
      await late.transaction(async (tx) => {
        await Promise.resolve()
        tx.changed({ kind: 'node', organizationId: 'system', subjectId: 'node_gone' })
      })
      await until(async () => {
        await node.pass(subject)
        return joined !== undefined
      }, 'the other node has joined')
      await using other = (await joined)!
      await until(
        () => [node, other].every(({ rates }) => rates.state().nodes === 2),
        'they know each other',
      )
      for (let round = 0; round < 100; round++) {
        await Promise.all([node.pass(subject), other.pass(subject)])
        await pause(pauseMs)
      }
      const held = await rateShares.listOf(place.store.calls, [subject.id])
      assert.ok(held.reduce((sum, { share }) => sum + share, 0) <= 1_000_000)
      assert.ok(held.filter(({ share }) => share > 0).length === 2, 'both hold what they spend')
    })
  })
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
