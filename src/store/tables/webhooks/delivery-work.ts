import { sql, type RawBuilder } from 'kysely'
import type { Id } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { maxAttemptsKept } from './attempts.ts'
import { inOneOrder } from './endpoint-leases.ts'
import type { EndpointHealthRecord, EndpointRecord } from './endpoints.ts'
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
  /** Increases with every change, so that a change made during an attempt is noticed. */
  readonly version: number
  readonly createdAt: number
  readonly body: Buffer
}

export interface AttemptOutcome {
  /** The attempt's id, which makes it harmless to write the attempt twice. */
  readonly id: Id<'att'>
  readonly delivery: Pick<
    DueDelivery,
    'id' | 'organizationId' | 'endpointId' | 'version' | 'attempts' | 'attemptsEver'
  >
  /** `pending` if the delivery will be retried at `dueAt`; otherwise its final state. */
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly dueAt: number
  /** Whether the attempt probed a held endpoint; a failed probe doesn't count towards a delivery's ten attempts. */
  readonly probe: boolean
  /**
   * Whether the receiver sent 429 with Retry-After while the delivery was less than five days old; such an attempt
   * doesn't count towards the ten attempts either.
   */
  readonly paced: boolean
  /** How long the receiver asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | undefined
  readonly failure: string | undefined
  readonly responseBody: Buffer | undefined
  readonly responseTruncated: boolean
}

/** Writes the health of endpoints whose lease token is unchanged; returns the ids of those endpoints. */
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

const probedAmong = 64

/** Loads an endpoint's pending deliveries with their bodies; `exhausted` is false if there may be more to load. */
export async function loadDue(
  db: Db,
  { organizationId, endpointId }: { organizationId: string; endpointId: string },
  load: {
    now: number
    limit: number
    /**
     * `due`: deliveries that are due, longest due first. `ordered`: all, in event order. `probe`: the oldest, due or
     * not, with the one attempted longest ago first, so that a delivery that is always refused doesn't keep its
     * endpoint held.
     */
    order: 'due' | 'ordered' | 'probe'
    /** The ids of deliveries that are already in memory. */
    except: ReadonlySet<string>
  },
): Promise<{ deliveries: DueDelivery[]; exhausted: boolean }> {
  const most = (load.order === 'probe' ? probedAmong : load.limit) + load.except.size
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
      'last_attempt_at',
    ])
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', sql.lit('pending'))
    .$if(load.order === 'due', (query) =>
      query.where('due_at', '<=', load.now).orderBy('due_at').orderBy('id'),
    )
    .$if(load.order !== 'due', (query) => query.orderBy('event_sequence'))
    .limit(most)
    .execute()
  const inOrder = load.order === 'probe' ? rows.toSorted(byLastAttempt) : rows
  const fresh = inOrder.filter((row) => !load.except.has(row.id)).slice(0, load.limit)
  const sequences = fresh.map((row) => row.event_sequence)
  const bodies = await bodiesOf(db, organizationId, sequences)
  const deliveries = fresh.flatMap(({ event_sequence: eventSequence, ...row }): DueDelivery[] => {
    const body = bodies.get(eventSequence)
    if (body === undefined) return []
    const { id, type, attempts, version } = row
    return [
      {
        ...{ organizationId, endpointId, id, eventSequence, eventId: row.event_id, type },
        ...{ dueAt: row.due_at, attempts, attemptsEver: row.attempts_ever, version },
        ...{ createdAt: row.created_at, body },
      },
    ]
  })
  return { deliveries, exhausted: rows.length < most }
}

interface Tried {
  readonly last_attempt_at: number | null
}

function byLastAttempt(one: Tried, other: Tried): number {
  return (one.last_attempt_at ?? 0) - (other.last_attempt_at ?? 0)
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

/** Finds when an endpoint's next delivery is due; undefined if none is pending. */
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

// A batch is split into statements of these sizes, so that only a few prepared statements exist.
const partSizes = [64, 16, 4, 1]

/**
 * Writes attempts and their results; writing the same ones again is harmless. A delivery that has changed since it was
 * loaded keeps its state, except that a delivery the receiver accepted becomes delivered.
 */
export async function complete(tx: Tx, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const writes = [...inParts(outcomes)].flatMap((part) => [
    updateStatement(tx, part),
    tx.query
      .insertInto('attempt')
      .values(part.map(attemptRow))
      .onConflict((conflict) => conflict.column('id').doNothing()),
  ])
  const outlived = outcomes
    .filter(({ delivery }) => delivery.attemptsEver >= maxAttemptsKept)
    .map(({ delivery }) =>
      tx.query
        .deleteFrom('attempt')
        .where('delivery_id', '=', delivery.id)
        .where('number', '<=', delivery.attemptsEver + 1 - maxAttemptsKept),
    )
  await together(tx, [...writes, ...outlived])
}

function updateStatement(tx: Tx, part: readonly AttemptOutcome[]): RawBuilder<unknown> {
  const rows = part.map((outcome) => {
    const { delivery } = outcome
    const ended = outcome.state !== 'pending'
    const attempts = delivery.attempts + ((outcome.probe || outcome.paced) && !ended ? 0 : 1)
    // Numbers and nulls are cast in every row, because PostgreSQL treats uncast parameters in VALUES as text.
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
