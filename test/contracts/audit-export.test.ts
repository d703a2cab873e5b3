import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { AuditExport, record } from '../../src/audit/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { auditExport, organizations, type Store } from '../../src/store/index.ts'
import { CollectorRefusal, createMetrics } from '../../src/telemetry/index.ts'
import { until } from '../harness/gateway.ts'
import { readLogs } from '../harness/otlp.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'

const awayMs = 60_000
const everyMs = 1000

/** Creates a collector that takes batches or, while `isAway`, fails as an unreachable one does. */
function collectorForTests() {
  const taken: number[] = []
  const state = { isAway: false, attempts: 0 }
  return {
    taken,
    state,
    post: async (body: string): Promise<void> => {
      state.attempts++
      if (state.isAway) throw new Error('connect ECONNREFUSED')
      const entries = readLogs(body).filter(({ eventName }) => eventName === 'audit.target.edited')
      taken.push(...entries.map(({ attributes }) => Number(attributes['intercept.audit.sequence'])))
    },
  }
}

async function organization(store: Store): Promise<OrganizationId> {
  const id = createId('org')
  await store.transaction(
    async (tx) => await organizations.insert(tx, { id, slug: id, name: 'x', plan: 'standard' }),
  )
  return id
}

for (const engine of engines) {
  describe(`the export of audit entries on ${engine}`, () => {
    test('a collector that is away for 60 s misses no entry and gets them in order, though a node stops and another takes over', async () => {
      const clock = steadyClock()
      await using opened = await storeForTests(engine, clock)
      const organizationId = await organization(opened.store)
      const collector = collectorForTests()
      let warnings = 0
      const log = { warn: () => void warnings++ }
      const exportOf = (store: Store): AuditExport =>
        new AuditExport({
          ...{ store, log, post: collector.post, metrics: createMetrics() },
          resource: { 'service.name': 'intercept', 'service.version': '0.1.0' },
        })
      let written = 0
      const write = async (): Promise<void> => {
        await opened.store.transaction(async (tx) =>
          record(tx, {
            organizationId,
            actor: { kind: 'operator' },
            action: 'target.edited',
            subject: { kind: 'test', id: 'x' },
            detail: {},
          }),
        )
        written++
      }

      mock.timers.enable({ apis: ['setInterval'] })
      try {
        const nodes = [exportOf(opened.store), exportOf(await opened.another())]
        const pass = async (): Promise<void> => {
          clock.forward(everyMs)
          mock.timers.tick(everyMs)
          await Promise.all(nodes.map(async (node) => await node.flush()))
        }
        await write()
        await pass()
        assert.deepEqual(collector.taken, [1])
        collector.state.isAway = true
        for (let passedMs = 0; passedMs < awayMs; passedMs += everyMs) {
          await write()
          await pass()
          if (passedMs === awayMs / 2) await nodes.shift()?.[Symbol.asyncDispose]()
        }
        assert.ok(collector.state.attempts > 20, 'it is tried again and again')
        assert.deepEqual(collector.taken, [1])
        collector.state.isAway = false
        await until(async () => {
          await pass()
          return collector.taken.length >= written
        })
        assert.equal(written, 61)
        assert.deepEqual(
          collector.taken,
          Array.from({ length: written }, (_, at) => at + 1),
        )
        assert.ok(warnings <= 4, 'a failure is logged when it begins and when it ends')
        await nodes[0]?.[Symbol.asyncDispose]()
      } finally {
        mock.timers.reset()
      }
    })

    test('of two nodes that want to send at the same time, one may', async () => {
      const clock = steadyClock()
      await using opened = await storeForTests(engine, clock)
      const stores = [opened.store, await opened.another()]
      for (let round = 0; round < 20; round++) {
        const turns = stores.map(
          async (store, at) =>
            await store.transaction(
              async (tx) =>
                await auditExport.takeTurn(tx, { holder: `${round}-${at}`, ttlMs: 1000 }),
            ),
        )
        const taken = await Promise.all(turns)
        assert.equal(taken.filter(Boolean).length, 1)
        // The turn ends before the next round.
        clock.forward(2000)
      }
    })

    test('what the collector refuses from one organization holds up no other', async () => {
      await using opened = await storeForTests(engine, steadyClock())
      const { store } = opened
      const [refused, taken] = [await organization(store), await organization(store)]
      const edit = entryIn(store)
      await edit(refused, {})
      await edit(taken, {})
      const bodies: string[] = []
      const post = async (body: string): Promise<void> => {
        if (body.includes(refused)) throw new CollectorRefusal('the collector answered 400')
        bodies.push(body)
      }
      await using audit = exportFor(store, post)
      await audit.flush()
      assert.equal(bodies.length, 1)
      assert.ok(bodies[0]?.includes(taken))
    })

    test('entries with much detail go in several bodies that a collector can take', async () => {
      await using opened = await storeForTests(engine, steadyClock())
      const { store } = opened
      const id = await organization(store)
      const edit = entryIn(store)
      for (let entry = 0; entry < 12; entry++) await edit(id, { note: 'x'.repeat(200_000) })
      const sent: { length: number; entries: number }[] = []
      const post = async (body: string): Promise<void> => {
        const entries = readLogs(body).filter(({ eventName }) => eventName.includes('edited'))
        sent.push({ length: body.length, entries: entries.length })
      }
      await using audit = exportFor(store, post)
      await audit.flush()
      assert.equal(
        sent.reduce((sum, { entries }) => sum + entries, 0),
        12,
      )
      assert.ok(sent.length > 1 && sent.every(({ length }) => length < 1.5 * 1024 * 1024))
    })
  })
}

function exportFor(store: Store, post: (body: string) => Promise<void>): AuditExport {
  const resource = { 'service.name': 'intercept', 'service.version': '0.1.0' }
  const log = { warn: () => undefined }
  return new AuditExport({ store, log, post, metrics: createMetrics(), resource })
}

function entryIn(store: Store) {
  return async (organizationId: string, detail: Record<string, unknown>): Promise<void> => {
    await store.transaction(async (tx) =>
      record(tx, {
        ...{ organizationId, actor: { kind: 'operator' }, action: 'target.edited' },
        ...{ subject: { kind: 'test', id: 'x' }, detail },
      }),
    )
  }
}
