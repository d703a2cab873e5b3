import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createKeyCache, Keys, type KeyCache } from '../../src/access/index.ts'
import { systemClock as clock, type Clock } from '../../src/clock.ts'
import { Problem } from '../../src/errors.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import type { Secret } from '../../src/secrets/index.ts'
import {
  openStore,
  restoreBackup,
  type Actor,
  type HistoryChange,
  type Store,
} from '../../src/store/index.ts'
import { until } from '../harness/gateway.ts'
import { postgresCluster, type PostgresCluster } from '../harness/postgres-cluster.ts'

const operator: Actor = { kind: 'operator' }
const input = { name: 'ci', scheme: 'bearer' } as const

interface Node {
  readonly store: Store
  readonly keys: Keys
  readonly keyCache: KeyCache
  readonly heard: HistoryChange[]
}

describe('a database that is replaced', { timeout: 120_000 }, () => {
  for (const promoted of [false, true]) {
    const how = promoted ? 'a standby that takes over' : 'a copy started in its place'
    test(`after ${how}, which lags, a revocation holds on every node once it is answered`, async () => {
      await using opened = new AsyncDisposableStack()
      const cluster = opened.use(await postgresCluster())
      const nodes = await openNodes(place(cluster), opened)
      const organizationId = await anOrganization(nodes[0]!.store)
      const victims = await issue(nodes[0]!.keys, organizationId, 3)
      await everybodyKnows(nodes, victims)

      const data = await cluster.copy()
      // These keys are newer than the copy, so its change feed ends before the changes that the nodes have read.
      const lost = await issue(nodes[1]!.keys, organizationId, 5)
      await everybodyKnows(nodes, lost)
      await cluster.kill()
      await cluster.start({ data, promoted })

      for (const [at, { id, secret }] of victims.entries()) {
        const revoking = nodes[at]!
        const { confirmation } = await patiently(
          async () => await revoking.keys.revoke(organizationId, id, operator),
        )
        assert.equal(confirmation.nodes + confirmation.silentNodes, nodes.length)
        for (const node of nodes) {
          assert.equal(await codeOf(node, secret), 'credential_revoked')
        }
      }
      // Keys that the copy lacks are gone from every cache too.
      for (const { secret } of lost) {
        for (const node of nodes) assert.equal(await codeOf(node, secret), 'credential_invalid')
      }
      for (const node of nodes) {
        assert.deepEqual([...new Set(await reasonsHeard(node))], ['lost'])
      }
    })
  }

  test('a node that was not known to the copy is waited for too', async () => {
    await using opened = new AsyncDisposableStack()
    const cluster = opened.use(await postgresCluster())
    const [early] = await openNodes(place(cluster), opened, 1)
    const organizationId = await anOrganization(early!.store)
    const [victim] = await issue(early!.keys, organizationId, 1)
    const data = await cluster.copy()
    const [late] = await openNodes(place(cluster), opened, 1)
    await everybodyKnows([early!, late!], [victim!])
    await cluster.kill()
    await cluster.start({ data })
    // This store sees the database for the first time, like a store that the command line opens.
    await using stranger = await openStore({ ...place(cluster), isNode: false })
    await new Keys({ store: stranger, clock }).revoke(organizationId, victim!.id, operator)
    for (const node of [early!, late!]) {
      assert.equal(await codeOf(node, victim!.secret), 'credential_revoked')
    }
  })

  test('a server that only starts again is the same, and nothing is said of its history', async () => {
    await using opened = new AsyncDisposableStack()
    const cluster = opened.use(await postgresCluster())
    const [node] = await openNodes(place(cluster), opened, 1)
    const organizationId = await anOrganization(node!.store)
    await issue(node!.keys, organizationId, 1)
    await cluster.kill()
    await cluster.start()
    await until(() => node!.store.feed.isCurrent())
    await patiently(async () => await issue(node!.keys, organizationId, 1))
    assert.deepEqual(node!.heard, [])
  })

  test('a restore in place is noticed without a new connection', async () => {
    await using opened = new AsyncDisposableStack()
    const cluster = opened.use(await postgresCluster())
    const [node] = await openNodes(place(cluster), opened, 1)
    const organizationId = await anOrganization(node!.store)
    const [victim] = await issue(node!.keys, organizationId, 1)
    await everybodyKnows([node!], [victim!])
    await cluster.sql(`update api_key set revoked_at = 1;
      delete from change where sequence = (select max(sequence) from change)`)
    await until(async () => (await codeOf(node!, victim!.secret)) === 'credential_revoked')
    assert.deepEqual(await reasonsHeard(node!), ['lost'])
  })

  test('a standby is not taken for the database', async () => {
    await using cluster = await postgresCluster()
    const data = await cluster.copy()
    await cluster.kill()
    await cluster.start({ data, standby: true })
    await assert.rejects(openStore({ ...place(cluster), isNode: true }), /standby/)
  })
})

describe('a database file that is replaced beside a running node', () => {
  test('after a restore the node reads the new file, and a revocation there holds at once', async () => {
    await using opened = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'intercept-restore-'))
    opened.defer(() => rmSync(folder, { recursive: true }))
    const [node] = await openNodes({ folder, clock }, opened, 1)
    const organizationId = await anOrganization(node!.store)
    const [victim] = await issue(node!.keys, organizationId, 1)
    await node!.store.backup(join(folder, 'backup.db'))
    const lost = await issue(node!.keys, organizationId, 3)
    await everybodyKnows([node!], [victim!, ...lost])

    for (const end of ['', '-wal', '-shm']) {
      renameSync(join(folder, `intercept.db${end}`), join(folder, `away.db${end}`))
    }
    await restoreBackup(join(folder, 'backup.db'), folder)
    {
      await using stranger = await openStore({ folder, clock, isNode: false })
      await new Keys({ store: stranger, clock }).revoke(organizationId, victim!.id, operator)
    }
    assert.equal(await codeOf(node!, victim!.secret), 'credential_revoked')
    for (const { secret } of lost) assert.equal(await codeOf(node!, secret), 'credential_invalid')
    assert.deepEqual(await reasonsHeard(node!), ['lost'])
    // Anything written from now on is in the new file.
    const [fresh] = await issue(node!.keys, organizationId, 1)
    await using again = await openStore({ folder, clock, isNode: false })
    assert.equal(
      (await new Keys({ store: again, clock }).get(organizationId, fresh!.id)).id,
      fresh!.id,
    )
  })

  test('while the file is away nothing is answered from it, and its log is not left behind', async () => {
    await using opened = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'intercept-restore-'))
    opened.defer(() => rmSync(folder, { recursive: true }))
    const [node] = await openNodes({ folder, clock }, opened, 1)
    const organizationId = await anOrganization(node!.store)
    const [victim] = await issue(node!.keys, organizationId, 1)
    await node!.store.backup(join(folder, 'backup.db'))
    await everybodyKnows([node!], [victim!])
    renameSync(join(folder, 'intercept.db'), join(folder, 'away.db'))
    await until(() => !node!.store.feed.isCurrent())
    await assert.rejects(issue(node!.keys, organizationId, 1), /moved away or replaced/)
    await assert.rejects(
      restoreBackup(join(folder, 'backup.db'), folder),
      /intercept\.db-(wal|shm)/,
    )
    renameSync(join(folder, 'away.db'), join(folder, 'intercept.db'))
    await until(() => node!.store.feed.isCurrent())
    assert.equal(await codeOf(node!, victim!.secret), undefined)
  })
})

function place(cluster: PostgresCluster) {
  return { databaseUrl: cluster.url, folder: tmpdir(), clock }
}

async function openNodes(
  where: { databaseUrl?: string; folder: string; clock: Clock },
  opened: AsyncDisposableStack,
  count = 3,
): Promise<Node[]> {
  const nodes: Node[] = []
  for (let at = 0; at < count; at++) {
    const heard: HistoryChange[] = []
    const onHistory = (change: HistoryChange): void => void heard.push(change)
    const store = opened.use(await openStore({ ...where, isNode: true, poolSize: 4, onHistory }))
    const keyCache = createKeyCache({ store, clock, enabledSchemes: ['bearer'], capacity: 100 })
    nodes.push({ store, keys: new Keys({ store, clock }), keyCache, heard })
  }
  return nodes
}

async function anOrganization(store: Store): Promise<OrganizationId> {
  const organizations = new Organizations({ store })
  return (await organizations.create({ slug: 'acme', name: 'Acme' }, operator)).id
}

async function issue(keys: Keys, organizationId: OrganizationId, count: number) {
  const issued: { id: `key_${string}`; secret: Secret }[] = []
  for (let at = 0; at < count; at++) {
    const { key, secret } = await keys.issue(organizationId, input, operator)
    issued.push({ id: key.id, secret })
  }
  return issued
}

async function everybodyKnows(nodes: readonly Node[], issued: readonly { secret: Secret }[]) {
  for (const node of nodes) {
    for (const { secret } of issued) assert.equal(await codeOf(node, secret), undefined)
  }
}

/** Returns the refusal code for a key, undefined if it is accepted; waits while the database is recovering. */
async function codeOf({ keyCache }: Node, secret: Secret): Promise<string | undefined> {
  for (;;) {
    try {
      await keyCache.identify({ text: secret.reveal(), scheme: 'bearer' })
      return undefined
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.code !== 'credential_unverifiable') return error.code
    }
  }
}

/**
 * Waits until the node has reported why it dropped its caches, and returns the reasons. The node stops using its caches
 * as soon as they may be wrong, and finds the reason only later.
 */
async function reasonsHeard({ heard }: Node): Promise<HistoryChange['reason'][]> {
  await until(() => heard.length > 0)
  return heard.map(({ reason }) => reason)
}

/** Retries work that fails, for up to 10 s, as a client would while the database is being replaced. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + 10_000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > end) throw error
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
