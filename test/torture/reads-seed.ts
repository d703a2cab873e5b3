import { Keys } from '../../src/access/index.ts'
import { record } from '../../src/audit/index.ts'
import { systemClock } from '../../src/clock.ts'
import { createId, type KeyId, type OrganizationId, type TargetId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import {
  callCounts,
  calls,
  openStore,
  targets,
  type CallRecord,
  type Store,
} from '../../src/store/index.ts'
import { countsOf } from '../../src/calls/index.ts'
import { command } from './guarded.ts'
import { randomFrom } from '../harness/random.ts'

const actor = { kind: 'operator' } as const
const dayMs = 24 * 3_600_000
const rowsInCommit = 640
const keysAtOnce = 100

/** The amount of data in the organization. */
export interface Amounts {
  readonly calls: number
  readonly keys: number
  readonly entries: number
  readonly deliveries: number
}

/** Fills organization `torture` with keys, audit entries, deliveries, and calls over 24 hours with their counts. */
export async function seed(
  env: Record<string, string>,
  amounts: Amounts,
  random: ReturnType<typeof randomFrom>,
): Promise<void> {
  await using store = await openStore({
    folder: env['DATA_DIR'] ?? '',
    databaseUrl: env['DATABASE_URL'],
    clock: systemClock,
    isNode: false,
  })
  const { id } = await new Organizations({ store }).get('torture')
  const [target] = await targets.list(store, id)
  if (target === undefined) throw new Error('there is no target')
  const keyIds = await seedKeys(store, id, amounts.keys)
  // Add the endpoint after the keys, so that their events are not delivered to it.
  const added = await command(env, 'webhook', 'add', 'torture', '--url', target.upstream)
  const endpointId = added['id'] ?? ''
  await seedEntries(store, id, amounts.entries)
  await seedDeliveries(store, { organizationId: id, endpointId, amount: amounts.deliveries })
  await seedCalls(store, { organizationId: id, targetId: target.id, keyIds, random }, amounts.calls)
}

async function seedKeys(store: Store, organizationId: OrganizationId, amount: number) {
  const keys = new Keys({ store, clock: systemClock })
  const issued: KeyId[] = []
  for (let at = 0; at < amount; at += keysAtOnce) {
    const some = Array.from({ length: Math.min(keysAtOnce, amount - at) }, async (_, index) => {
      const input = { name: `key ${at + index}`, scheme: 'x-api-key' } as const
      return (await keys.issue(organizationId, input, actor)).key.id
    })
    issued.push(...(await Promise.all(some)))
  }
  return issued
}

async function seedEntries(store: Store, organizationId: OrganizationId, amount: number) {
  const subject = { kind: 'organization', id: organizationId }
  for (let at = 0; at < amount; at += rowsInCommit) {
    await store.transaction(async (tx) => {
      for (let entry = at; entry < Math.min(amount, at + rowsInCommit); entry++) {
        record(tx, { organizationId, actor, action: 'target.edited', subject, detail: { entry } })
      }
    })
  }
}

async function seedDeliveries(
  store: Store,
  all: { organizationId: OrganizationId; endpointId: string; amount: number },
) {
  const row = (index: number) => ({
    id: createId('dlv', Date.now() - index),
    organization_id: all.organizationId,
    endpoint_id: all.endpointId,
    event_sequence: 1_000_000 + index,
    event_id: createId('evt'),
    type: 'webhook.ping',
    state: index % 10 === 0 ? 'dead' : 'delivered',
    due_at: 0,
    attempts: 1,
    attempts_ever: 1,
    version: 1,
    created_at: Date.now() - index,
    completed_at: Date.now(),
  })
  for (let at = 0; at < all.amount; at += keysAtOnce) {
    const some = Array.from({ length: Math.min(keysAtOnce, all.amount - at) }, (_, i) =>
      row(at + i),
    )
    await store.transaction(
      async (tx) => void (await tx.query.insertInto('delivery').values(some).execute()),
    )
  }
}

interface Callers {
  readonly organizationId: OrganizationId
  readonly targetId: TargetId
  readonly keyIds: readonly KeyId[]
  readonly random: () => number
}

async function seedCalls(store: Store, callers: Callers, amount: number): Promise<void> {
  const startMs = Date.now() - dayMs
  for (let at = 0; at < amount; at += rowsInCommit) {
    const rows = Array.from({ length: Math.min(rowsInCommit, amount - at) }, (_, index) =>
      callOf(callers, Math.floor(startMs + ((at + index) / amount) * dayMs)),
    )
    await store.transactionOnCalls(async (tx) => {
      await calls.insert(tx, rows)
      await callCounts.add(tx, countsOf(rows))
    })
  }
}

function callOf(callers: Callers, at: number): CallRecord {
  const { organizationId, targetId, keyIds, random } = callers
  const pick = Math.floor(random() * 1000)
  const refused = pick % 20 === 0
  return {
    ...{ id: createId('req', at), at, organizationId, targetId },
    keyId: keyIds[Math.floor(random() * keyIds.length)] ?? 'key_',
    method: pick % 4 === 0 ? 'POST' : 'GET',
    path: `/api/v1/intercept/up/orders/${pick}/items`,
    status: refused ? 403 : 200,
    refusal: refused ? 'rule_denied' : undefined,
    stoppedAt: refused ? 'rules' : undefined,
    ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 100, bytesOut: 1000 },
    ...{ durationUs: 1000 + pick, upstreamUs: 900, address: `192.0.2.${pick % 250}` },
    ...{ agent: 'torture/1.0', capture: undefined },
  }
}
