import type { OrganizationId } from '../../../ids.ts'
import { besideIds } from '../../db/beside-ids.ts'
import { columns, maybe, number, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { OwnKey } from '../../db/own-rows.ts'
import { enterRemovals } from './endpoint-counts.ts'

/** The stored state; a pending delivery to a held endpoint is shown as `held`. */
export type StoredDeliveryState = 'pending' | 'delivered' | 'dead' | 'skipped'
export type DeliveryState = StoredDeliveryState | 'held'

const declared = {
  id: text<`dlv_${string}`>(),
  organizationId: text<OrganizationId>(),
  endpointId: text<`ep_${string}`>(),
  eventSequence: number(),
  eventId: text(),
  type: text(),
  state: text<DeliveryState>(),
  dueAt: time(),
  /**
   * The attempts since the delivery last became pending, except failed probes and paced attempts (see
   * `AttemptOutcome`); `attemptsEver` counts all attempts.
   */
  attempts: number(),
  attemptsEver: number(),
  createdAt: time(),
  completedAt: maybe(time()),
  lastAttemptAt: maybe(time()),
  lastStatus: maybe(number()),
  lastFailure: maybe(text()),
  skippedReason: maybe(text()),
  operationId: maybe(text()),
}

const hidden = { version: number() }
const stored = columns(declared, hidden)

/** A delivery as stored; times are milliseconds since 1970. */
export type DeliveryRecord = RecordOf<typeof declared>
export type DeliveryTable = TableOf<typeof declared & typeof hidden>

/** Selects deliveries; all given conditions must hold. */
export interface DeliveryFilter {
  readonly endpointId?: string | undefined
  readonly eventId?: string | undefined
  readonly states?: readonly DeliveryState[] | undefined
  /** Only deliveries whose `attempts` is greater than 0. */
  readonly onlyTried?: boolean | undefined
  readonly types?: readonly string[] | undefined
  /** The range of creation times in milliseconds since 1970: `createdFrom` is inclusive, `createdTo` exclusive. */
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
  /** Leaves out deliveries to disabled and deleted endpoints. */
  readonly onlyToEnabled?: boolean | undefined
}

/** Lists a page of an organization's deliveries, newest first; `before` is the last id of the previous page. */
export async function list(
  db: Db,
  organizationId: string,
  page: { filter?: DeliveryFilter; before?: string | undefined; limit: number },
): Promise<DeliveryRecord[]> {
  const { before } = page
  const rows = await matching(db, organizationId, page.filter ?? {})
    .selectAll('delivery')
    .select('endpoint.state as endpoint_state')
    .$if(before !== undefined, (query) => query.where('delivery.id', '<', before ?? ''))
    .orderBy('delivery.id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<DeliveryRecord | undefined> {
  const row = await matching(db, organizationId, {})
    .selectAll('delivery')
    .select('endpoint.state as endpoint_state')
    .where('delivery.id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

export interface DeliveryTimes {
  readonly createdAt: number
  readonly completedAt: number | undefined
  readonly state: StoredDeliveryState
}

/** Lists an endpoint's newest deliveries with ids from `fromId` (inclusive) to `belowId` (exclusive). */
export async function deliveryTimes(
  db: Db,
  organizationId: string,
  range: { endpointId: string; fromId: string; belowId: string; limit: number },
): Promise<DeliveryTimes[]> {
  const rows = await db.query
    .selectFrom('delivery')
    .select(['created_at', 'completed_at', 'state'])
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', range.endpointId)
    .where('id', '>=', range.fromId)
    .where('id', '<', range.belowId)
    .orderBy('id', 'desc')
    .limit(range.limit)
    .execute()
  return rows.map((row) => ({
    createdAt: row.created_at,
    completedAt: row.completed_at ?? undefined,
    state: row.state as StoredDeliveryState,
  }))
}

export async function count(
  db: Db,
  organizationId: string,
  filter: DeliveryFilter,
): Promise<number> {
  const row = await matching(db, organizationId, filter)
    .select((eb) => eb.fn.countAll<number>().as('deliveries'))
    .executeTakeFirstOrThrow()
  return row.deliveries
}

interface DeliveryChoice {
  readonly organizationId: string
  readonly filter: DeliveryFilter
}

/** Lists ids of matching deliveries after a cursor and up to `upTo`, oldest first. */
export async function idsAfter(
  db: Db,
  { organizationId, filter }: DeliveryChoice,
  page: { after: string; upTo: string; limit: number },
): Promise<string[]> {
  const rows = await matching(db, organizationId, filter)
    .select('delivery.id')
    .where('delivery.id', '>', page.after)
    .where('delivery.id', '<=', page.upTo)
    .orderBy('delivery.id')
    .limit(page.limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Selects those of the given ids whose deliveries match a filter, oldest first. */
export async function idsAmong(
  db: Db,
  { organizationId, filter }: DeliveryChoice,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await matching(db, organizationId, filter)
    .select('delivery.id')
    .where('delivery.id', 'in', ids)
    .orderBy('delivery.id')
    .execute()
  return rows.map((row) => row.id)
}

/** Makes deliveries pending again and due now, whatever their state; returns how many of them existed. */
export async function requeue(
  tx: Tx,
  { organizationId, ids }: { readonly organizationId: string; readonly ids: readonly string[] },
  operationId?: string,
): Promise<number> {
  if (ids.length === 0) return 0
  const { numUpdatedRows } = await tx.query
    .updateTable('delivery')
    .set((eb) => ({
      state: 'pending',
      due_at: tx.now,
      attempts: 0,
      version: eb('version', '+', 1),
      completed_at: null,
      skipped_reason: null,
      operation_id: operationId ?? null,
    }))
    .where(besideIds(tx, organizationId))
    .where('id', 'in', ids)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Marks an endpoint's pending deliveries as skipped; returns how many. */
export async function skipPending(
  tx: Tx,
  endpoint: OwnKey,
  reason: 'endpoint_disabled' | 'endpoint_deleted',
): Promise<number> {
  const { numUpdatedRows } = await tx.query
    .updateTable('delivery')
    .set((eb) => ({
      state: 'skipped',
      skipped_reason: reason,
      completed_at: tx.now,
      version: eb('version', '+', 1),
    }))
    .where('organization_id', '=', endpoint.organizationId)
    .where('endpoint_id', '=', endpoint.id)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/**
 * Deletes up to `limit` finished deliveries with ids below a given one (ids sort by time), together with their
 * attempts; returns how many it found.
 */
export async function removeEnded(tx: Tx, belowId: string, limit: number): Promise<number> {
  const found = await tx.query
    .selectFrom('delivery')
    .select('id')
    .where('id', '<', belowId)
    .where('state', '!=', 'pending')
    .orderBy('id')
    .limit(limit)
    .execute()
  if (found.length === 0) return 0
  const removed = await tx.query
    .deleteFrom('delivery')
    .where(
      'id',
      'in',
      found.map((row) => row.id),
    )
    // The state is checked again in the row as it is now, because a replay may have made the delivery pending in the
    // meantime.
    .where('state', '!=', 'pending')
    .returning(['id', 'endpoint_id', 'state'])
    .execute()
  if (removed.length > 0) {
    const ids = removed.map((row) => row.id)
    await tx.query.deleteFrom('attempt').where('delivery_id', 'in', ids).execute()
    await enterRemovals(tx, removed)
  }
  return found.length
}

function matching(db: Db, organizationId: string, filter: DeliveryFilter) {
  const { endpointId, eventId, states, types, createdFrom, createdTo } = filter
  return db.query
    .selectFrom('delivery')
    .innerJoin('endpoint', 'endpoint.id', 'delivery.endpoint_id')
    .where('delivery.organization_id', '=', organizationId)
    .$if(endpointId !== undefined, (q) => q.where('delivery.endpoint_id', '=', endpointId ?? ''))
    .$if(eventId !== undefined, (q) =>
      // Deliveries are matched by the event's sequence number, because the index covers that and not the event's id.
      q.where('delivery.event_sequence', 'in', (eb) =>
        eb
          .selectFrom('event')
          .select('sequence')
          .where('organization_id', '=', organizationId)
          .where('id', '=', eventId ?? ''),
      ),
    )
    .$if(types !== undefined, (q) => q.where('delivery.type', 'in', some(types)))
    .$if(createdFrom !== undefined, (q) => q.where('delivery.created_at', '>=', createdFrom ?? 0))
    .$if(createdTo !== undefined, (q) => q.where('delivery.created_at', '<', createdTo ?? 0))
    .$if(filter.onlyTried === true, (q) => q.where('delivery.attempts', '>', 0))
    .$if(filter.onlyToEnabled === true, (q) =>
      q.where('endpoint.state', '!=', 'disabled').where('endpoint.deleted_at', 'is', null),
    )
    .$if(states !== undefined, (q) =>
      q.where((eb) =>
        eb.or([
          eb('delivery.state', 'in', some(states?.filter(isStoredEnd))),
          ...(states?.includes('pending')
            ? [eb.and([eb('delivery.state', '=', 'pending'), eb('endpoint.state', '!=', 'held')])]
            : []),
          ...(states?.includes('held')
            ? [eb.and([eb('delivery.state', '=', 'pending'), eb('endpoint.state', '=', 'held')])]
            : []),
        ]),
      ),
    )
}

/** Returns the list. An empty list, which PostgreSQL rejects in a condition, is replaced with one impossible value. */
function some(list: readonly string[] | undefined): readonly string[] {
  return list === undefined || list.length === 0 ? [''] : list
}

function isStoredEnd(state: DeliveryState): boolean {
  return state !== 'pending' && state !== 'held'
}

function fromRow(row: DeliveryTable & { endpoint_state: string }): DeliveryRecord {
  const delivery = stored.fromRow(row)
  const held = row.state === 'pending' && row.endpoint_state === 'held'
  return held ? { ...delivery, state: 'held' } : delivery
}
