import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Id } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { fromRow, type EndpointHealthRecord, type EndpointRecord } from './endpoints.ts'
import { together } from '../../db/together.ts'

/** A pending delivery with the bytes to send. */
export interface DueDelivery {
  readonly id: string
  readonly organizationId: string
  readonly endpointId: string
  readonly eventSequence: number
  readonly eventId: string
  readonly type: string
  readonly dueAt: number
  readonly attempts: number
  readonly attemptsEver: number
  /** Increases with every change: a writer must have seen the latest one. */
  readonly version: number
  readonly createdAt: number
  readonly body: Buffer
}

/** A lease on an endpoint; every new lease, even by the same owner, has a different token. */
export type Lease = Pick<EndpointRecord, 'id' | 'leaseToken'>

/** The result of a delivery attempt. */
export interface AttemptOutcome {
  /** The attempt's id, which makes writing it twice harmless. */
  readonly id: Id<'att'>
  readonly delivery: Pick<
    DueDelivery,
    'id' | 'organizationId' | 'endpointId' | 'version' | 'attempts' | 'attemptsEver'
  >
  /** `pending` with a new due time, or finished. */
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly dueAt: number
  /** A failed probe doesn't count towards the ten attempts. */
  readonly probe: boolean
  /** The receiver answered 429 with Retry-After, which doesn't count towards the ten attempts either. */
  readonly paced: boolean
  /** How long the receiver asked us to wait. */
  readonly retryAfterMs: number | undefined
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | undefined
  readonly failure: string | undefined
  readonly responseBody: Buffer | undefined
  readonly responseTruncated: boolean
}

/**
 * Finds unleased endpoints with a due delivery or probe, longest-waiting first; sorting by endpoint keeps one
 * endpoint's backlog from hiding the others.
 */
export async function findLeasable(
  db: Db,
  search: {
    now: number
    limit: number
    /** Only these organizations, because an event was just published there. */
    organizationIds?: readonly string[] | undefined
  },
): Promise<string[]> {
  const { now, organizationIds } = search
  const rows = await db.query
    .selectFrom('endpoint')
    .select('endpoint.id')
    .where('endpoint.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .$if(organizationIds !== undefined, (q) =>
      q.where('endpoint.organization_id', 'in', organizationIds ?? []),
    )
    .where((eb) =>
      eb.or([
        eb('endpoint.state', '=', 'active'),
        eb.and([eb('endpoint.state', '=', 'held'), eb('endpoint.probe_at', '<=', now)]),
      ]),
    )
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('delivery')
          .select('delivery.id')
          .whereRef('delivery.endpoint_id', '=', 'endpoint.id')
          .where('delivery.state', '=', sql.lit('pending'))
          // A probe may send a delivery before it is due.
          .where((or) =>
            or.or([or('delivery.due_at', '<=', now), or('endpoint.state', '=', 'held')]),
          ),
      ),
    )
    .orderBy(sql`coalesce(last_attempt_at, 0)`)
    .limit(search.limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Leases endpoints that are still free; each lease gets a higher token than the previous one. */
export async function leaseEndpoints(
  tx: Tx,
  lease: { owner: string; until: number; endpointIds: readonly string[] },
): Promise<EndpointRecord[]> {
  if (lease.endpointIds.length === 0) return []
  const rows = await tx.query
    .updateTable('endpoint')
    .set((eb) => ({
      lease_owner: lease.owner,
      lease_until: lease.until,
      lease_token: eb('lease_token', '+', 1),
    }))
    // SKIP LOCKED: another node is leasing it.
    .where('id', 'in', inOneOrder(tx, lease.endpointIds, 'skip'))
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', tx.now)]))
    .where('state', '!=', 'disabled')
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/** The owners of unexpired leases: a starting node looks among them for its own dead processes. */
export async function listLeaseOwners(db: Db, now: number): Promise<string[]> {
  const rows = await db.query
    .selectFrom('endpoint')
    .select('lease_owner')
    .distinct()
    .where('lease_until', '>=', now)
    .execute()
  return rows.flatMap((row) => row.lease_owner ?? [])
}

/** Ends all leases of an owner known to be dead. */
export async function endLeasesOf(tx: Tx, owner: string): Promise<void> {
  await tx.query
    .updateTable('endpoint')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', '=', owner)
    .execute()
}

/** Renews leases; returns the ones that still hold, with their current rows. */
export async function renewLeases(
  tx: Tx,
  renewal: { owner: string; until: number; leases: readonly Lease[] },
): Promise<EndpointRecord[]> {
  if (renewal.leases.length === 0) return []
  const rows = await tx.query
    .updateTable('endpoint')
    .set({ lease_until: renewal.until })
    .where('id', 'in', inOneOrder(tx, idsOf(renewal.leases)))
    .where('lease_owner', '=', renewal.owner)
    .where(isLastTaking(renewal.leases))
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/** Releases leases so that the next owner need not wait for them to expire; skips a lease that has been taken anew. */
export async function releaseLeases(
  tx: Tx,
  release: { owner: string; leases: readonly Lease[] },
): Promise<void> {
  if (release.leases.length === 0) return
  await tx.query
    .updateTable('endpoint')
    .set({ lease_owner: null, lease_until: null })
    .where('id', 'in', inOneOrder(tx, idsOf(release.leases)))
    .where('lease_owner', '=', release.owner)
    .where(isLastTaking(release.leases))
    .execute()
}

function isLastTaking(leases: readonly Lease[]): RawBuilder<SqlBool> {
  const values = leases.map(({ id, leaseToken }) => sql`(${id}, cast(${leaseToken} as bigint))`)
  return sql<SqlBool>`(id, lease_token) in (values ${sql.join(values)})`
}

const idsOf = (leases: readonly Lease[]): string[] => leases.map(({ id }) => id)

/** PostgreSQL locks rows in the order it meets them: one fixed order everywhere prevents deadlocks. */
function inOneOrder(tx: Tx, ids: readonly string[], whatIsLocked: 'wait' | 'skip' = 'wait') {
  return tx.query
    .selectFrom('endpoint')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .$if(tx.engine === 'postgres', (query) =>
      whatIsLocked === 'skip' ? query.forUpdate().skipLocked() : query.forUpdate(),
    )
}

/** Writes the health of leased endpoints; returns those whose lease still held and whose health was written. */
export async function writeHealths(
  tx: Tx,
  healths: readonly {
    readonly endpoint: Pick<EndpointRecord, 'id' | 'organizationId' | 'leaseToken'>
    readonly health: EndpointHealthRecord
    readonly lastAttemptAt: number | undefined
  }[],
): Promise<Set<string>> {
  const written = new Set<string>()
  for (const part of tx.engine === 'postgres' ? [healths] : inParts(healths)) {
    if (part.length === 0) continue
    const ids = part.map(({ endpoint }) => endpoint.id)
    const values = part.map(({ endpoint, health, lastAttemptAt }) => {
      const { id, organizationId, leaseToken } = endpoint
      const { state, disabledReason = null, failures } = health
      const times = [
        health.failingSince,
        health.lastSuccessAt,
        health.heldAt,
        health.probeAt,
        health.probeDelayMs,
        lastAttemptAt,
      ].map((time) => sql`cast(${time ?? null} as bigint)`)
      return sql`(${id}, ${organizationId}, cast(${leaseToken} as bigint), ${state}, cast(${disabledReason} as text), cast(${failures} as bigint), ${sql.join(times)})`
    })
    const { rows } = await sql<{ id: string }>`update endpoint set state = v.column4,
      disabled_reason = v.column5, failures = v.column6, failing_since = v.column7,
      last_success_at = v.column8, held_at = v.column9, probe_at = v.column10,
      probe_delay_ms = v.column11, last_attempt_at = coalesce(v.column12, endpoint.last_attempt_at)
      from (values ${sql.join(values)}) as v
      where endpoint.id = v.column1 and endpoint.organization_id = v.column2
        and endpoint.lease_token = v.column3 and endpoint.deleted_at is null
        and endpoint.id in (${inOneOrder(tx, ids)})
      returning id`.execute(tx.query)
    for (const { id } of rows) written.add(id)
  }
  return written
}

/** Loads an endpoint's pending deliveries with their bodies. */
export async function loadDue(
  db: Db,
  { organizationId, endpointId }: { organizationId: string; endpointId: string },
  load: {
    now: number
    limit: number
    /** `due`: due ones, longest due first · `ordered`: in event order, due or not · `probe`: the oldest, due or not. */
    order: 'due' | 'ordered' | 'probe'
    /** Ids that are already in memory. */
    except: ReadonlySet<string>
  },
): Promise<{ deliveries: DueDelivery[]; exhausted: boolean }> {
  const most = load.limit + load.except.size
  const rows = await db.query
    .selectFrom('delivery')
    .select([
      'id',
      'event_sequence',
      'event_id',
      'type',
      'due_at',
      'attempts',
      'attempts_ever',
      'version',
      'created_at',
    ])
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', sql.lit('pending'))
    .$if(load.order === 'due', (query) =>
      query.where('due_at', '<=', load.now).orderBy('due_at').orderBy('id'),
    )
    .$if(load.order !== 'due', (query) => query.orderBy('event_sequence'))
    .limit(most)
    .execute()
  const fresh = rows.filter((row) => !load.except.has(row.id)).slice(0, load.limit)
  const sequences = fresh.map((row) => row.event_sequence)
  const bodies = await bodiesOf(db, organizationId, sequences)
  const deliveries = fresh.flatMap(({ event_sequence: eventSequence, ...row }): DueDelivery[] => {
    const body = bodies.get(eventSequence)
    if (body === undefined) return []
    return [
      {
        organizationId,
        endpointId,
        id: row.id,
        eventSequence,
        eventId: row.event_id,
        type: row.type,
        dueAt: row.due_at,
        attempts: row.attempts,
        attemptsEver: row.attempts_ever,
        version: row.version,
        createdAt: row.created_at,
        body,
      },
    ]
  })
  return { deliveries, exhausted: rows.length < most }
}

async function bodiesOf(
  db: Db,
  organizationId: string,
  sequences: readonly number[],
): Promise<Map<number, Buffer>> {
  if (sequences.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('event')
    .select(['sequence', 'body'])
    .where('organization_id', '=', organizationId)
    .where('sequence', 'in', sequences)
    .execute()
  return new Map(rows.map((row) => [row.sequence, Buffer.from(row.body)]))
}

/** When an endpoint's next delivery is due; undefined if none is pending. */
export async function nextDueAt(db: Db, endpointId: string): Promise<number | undefined> {
  const row = await db.query
    .selectFrom('delivery')
    .select('due_at')
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', sql.lit('pending'))
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst()
  return row?.due_at
}

// Only a few statement sizes stay prepared, so a batch is split into them.
const partSizes = [64, 16, 4, 1]

/**
 * Writes the results of attempts. A delivery that was changed since it was loaded (another version, or no longer
 * pending) keeps its state, unless the receiver has accepted it, which stays true. The attempt is recorded in any case.
 * If a commit's response was lost, the same results are simply written again.
 */
export async function complete(tx: Tx, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const writes = [...inParts(outcomes)].flatMap((part) => [
    updateStatement(tx, part),
    tx.query
      .insertInto('attempt')
      .values(part.map(attemptRow))
      .onConflict((conflict) => conflict.column('id').doNothing()),
  ])
  await together(tx, writes)
}

function updateStatement(tx: Tx, part: readonly AttemptOutcome[]): RawBuilder<unknown> {
  const rows = part.map((outcome) => {
    const { delivery } = outcome
    const ended = outcome.state !== 'pending'
    const attempts = delivery.attempts + ((outcome.probe || outcome.paced) && !ended ? 0 : 1)
    // Typed in every row because PostgreSQL treats parameters in VALUES as text.
    return sql`(${delivery.id}, cast(${delivery.version} as bigint), ${outcome.state}, cast(${outcome.dueAt} as bigint), cast(${attempts} as bigint), cast(${delivery.attemptsEver + 1} as bigint), cast(${ended ? tx.now : null} as bigint), cast(${outcome.startedAt} as bigint), cast(${outcome.status ?? null} as bigint), cast(${outcome.failure ?? null} as text))`
  })
  return sql`update delivery set state = v.column3, due_at = v.column4, attempts = v.column5,
    attempts_ever = v.column6, completed_at = v.column7, last_attempt_at = v.column8, last_status = v.column9,
    last_failure = v.column10, skipped_reason = null, version = delivery.version + 1
    from (values ${sql.join(rows)}) as v
    where delivery.id = v.column1 and (
      (delivery.version = v.column2 and delivery.state = 'pending')
      or (v.column3 = 'delivered' and delivery.state <> 'delivered'))`
}

function attemptRow(outcome: AttemptOutcome) {
  return {
    id: outcome.id,
    delivery_id: outcome.delivery.id,
    organization_id: outcome.delivery.organizationId,
    number: outcome.delivery.attemptsEver + 1,
    probe: outcome.probe ? 1 : 0,
    started_at: outcome.startedAt,
    duration_ms: outcome.durationMs,
    status: outcome.status ?? null,
    failure: outcome.failure ?? null,
    response_body: outcome.responseBody ?? null,
    response_truncated: outcome.responseTruncated ? 1 : 0,
  }
}

function* inParts<T>(rows: readonly T[]): Generator<readonly T[]> {
  let at = 0
  for (const size of partSizes) {
    for (; rows.length - at >= size; at += size) yield rows.slice(at, at + size)
  }
}

/** Locks an organization's head first, so that no event is published while an endpoint changes state. */
export async function lockOrganization(tx: Tx, organizationId: string): Promise<void> {
  await tx.query
    .updateTable('organization_head')
    .set((eb) => ({ event_sequence: eb.ref('event_sequence') }))
    .where('organization_id', '=', organizationId)
    .execute()
}
