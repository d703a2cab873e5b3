import { sql, type RawBuilder } from 'kysely'
import { createId } from '../../ids.ts'
import { digest } from '../../secrets/index.ts'
import type {
  AuditDraft,
  Change,
  ChangeDraft,
  Collected,
  EventDraft,
  Transaction,
} from '../db/db.ts'
import { endpointsOf, fanOut } from '../tables/webhooks/fan-out.ts'
import { insertion } from '../db/insertion.ts'
import { together, togetherThen, type Write } from '../db/together.ts'

// One number for all of Intercept's nodes on a database: changes are numbered in the order of their commits.
const changeLock = 7263941
const eventApiVersion = 'v1'
const endpointsNamed = 10
const usualEventBytesMost = 64 * 1024

/**
 * Writes what a transaction collected, as its last act: audit entries and events under the lock of their
 * organization's head, in the order of organizations so that no two transactions wait for each other; changes last.
 * Returns the changes with their sequence.
 */
export async function writeLedger(tx: Transaction, collected: Collected): Promise<Change[]> {
  const organizations = new Set(
    [...collected.audits, ...collected.events].map((draft) => draft.organizationId),
  )
  for (const organizationId of [...organizations].sort()) {
    await writeForOrganization(tx, organizationId, {
      audits: collected.audits.filter((draft) => draft.organizationId === organizationId),
      events: collected.events.filter((draft) => draft.organizationId === organizationId),
      changes: collected.changes,
    })
  }
  return await writeChanges(tx, collected)
}

async function writeForOrganization(
  tx: Transaction,
  organizationId: string,
  drafts: { audits: AuditDraft[]; events: EventDraft[]; changes: ChangeDraft[] },
): Promise<void> {
  const head = await tx.query
    .updateTable('organization_head')
    .set((eb) => ({
      audit_sequence: eb('audit_sequence', '+', drafts.audits.length),
      event_sequence: eb('event_sequence', '+', drafts.events.length),
    }))
    .where('organization_id', '=', organizationId)
    .returning(['audit_sequence', 'event_sequence', 'audit_hash'])
    .executeTakeFirstOrThrow(() => new Error(`organization ${organizationId} has no head row`))

  const audits = auditWrites(tx, organizationId, drafts.audits, head)
  if (drafts.events.length === 0) return await together(tx, audits)
  const toSend = await writeEvents(tx, organizationId, drafts.events, {
    lastSequence: head.event_sequence,
    audits,
  })
  if (toSend.length > 0) {
    // Named where they are few: nobody then looks at the others.
    const subjectId = toSend.length <= endpointsNamed ? toSend.join(' ') : organizationId
    drafts.changes.push({ kind: 'delivery', organizationId, subjectId })
  }
}

function auditWrites(
  tx: Transaction,
  organizationId: string,
  drafts: AuditDraft[],
  head: { audit_sequence: number; audit_hash: string },
): Write[] {
  if (drafts.length === 0) return []
  let previousHash = head.audit_hash
  let sequence = head.audit_sequence - drafts.length
  const rows = drafts.map((draft) => {
    sequence += 1
    const row = {
      organization_id: organizationId,
      sequence,
      id: createId('aud', tx.now),
      at: tx.now,
      actor_kind: draft.actor.kind,
      actor_id: draft.actor.id ?? null,
      actor_name: draft.actor.name ?? null,
      action: draft.action,
      subject_kind: draft.subject.kind,
      subject_id: draft.subject.id,
      detail: JSON.stringify(draft.detail),
      address: draft.actor.address ?? null,
      request_id: draft.actor.requestId ?? null,
      previous_hash: previousHash,
    }
    const hash = auditHash(row)
    previousHash = hash
    return { ...row, hash }
  })
  return [
    ...insertion(tx, 'audit_entry', auditColumns, rows),
    tx.query
      .updateTable('organization_head')
      .set({ audit_hash: previousHash })
      .where('organization_id', '=', organizationId),
  ]
}

const auditColumns = {
  organization_id: 'text',
  sequence: 'bigint',
  id: 'text',
  at: 'bigint',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  action: 'text',
  subject_kind: 'text',
  subject_id: 'text',
  detail: 'text',
  address: 'text',
  request_id: 'text',
  previous_hash: 'text',
  hash: 'text',
} as const

/** The columns that an audit entry's hash covers, in their order. */
export const hashedAuditColumns = [
  'previous_hash',
  'organization_id',
  'sequence',
  'id',
  'at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'action',
  'subject_kind',
  'subject_id',
  'detail',
  'address',
  'request_id',
] as const

/** The hash of an audit entry: SHA-256 over its columns and the hash before it, as one JSON array. */
export function auditHash(
  row: Readonly<Record<(typeof hashedAuditColumns)[number], string | number | null>>,
): string {
  return digest(JSON.stringify(hashedAuditColumns.map((column) => row[column])))
}

const eventColumns = {
  organization_id: 'text',
  sequence: 'bigint',
  id: 'text',
  type: 'text',
  at: 'bigint',
  body: 'utf8',
} as const

/** Writes events with the audit entries beside them, and their deliveries; returns the endpoints with something to send. */
async function writeEvents(
  tx: Transaction,
  organizationId: string,
  drafts: EventDraft[],
  { lastSequence, audits }: { lastSequence: number; audits: readonly Write[] },
): Promise<readonly string[]> {
  let sequence = lastSequence - drafts.length
  const rows = drafts.map((draft) => {
    sequence += 1
    const id = draft.id ?? createId('evt', tx.now)
    const body = eventBody(tx, { ...draft, id, sequence })
    return { organization_id: organizationId, sequence, id, type: draft.type, at: tx.now, body }
  })
  const insertions = insertion(tx, 'event', eventColumns, rows)
  const written = rows.map(({ id, sequence: number, type }, at) => {
    return { id, sequence: number, type, onlyEndpointId: drafts[at]?.onlyEndpointId }
  })
  const endpoints = await togetherThen(tx, [...audits, ...insertions], endpointsOf(organizationId))
  const { endpointIds, writes } = fanOut(tx, organizationId, written, endpoints)
  await together(tx, writes)
  return endpointIds
}

/** Serialised once: every delivery of this event sends these bytes. Data that is too large is left out, not the event. */
function eventBody(
  tx: Transaction,
  event: EventDraft & { readonly id: string; readonly sequence: number },
): Buffer {
  const render = (data: unknown): Buffer =>
    Buffer.from(
      JSON.stringify({
        id: event.id,
        type: event.type,
        timestamp: new Date(tx.now).toISOString(),
        api_version: eventApiVersion,
        organization_id: event.organizationId,
        sequence: event.sequence,
        data,
      }),
    )
  const body = render(event.data)
  const most = tx.eventBytesMost ?? usualEventBytesMost
  return body.length <= most ? body : render({ left_out_bytes: body.length })
}

async function writeChanges(tx: Transaction, collected: Collected): Promise<Change[]> {
  if (collected.changes.length === 0) return []
  if (tx.engine === 'postgres') return await writeChangesAtOnce(tx, collected.changes)
  const changes: Change[] = []
  for (const draft of collected.changes) {
    const { sequence } = await tx.query
      .insertInto('change')
      .values({
        kind: draft.kind,
        organization_id: draft.organizationId,
        subject_id: draft.subjectId,
        at: tx.now,
      })
      .returning('sequence')
      .executeTakeFirstOrThrow()
    changes.push({ ...draft, sequence })
  }
  return changes
}

/** All under one lock for all organizations: so it is one statement, sent just before the commit. */
async function writeChangesAtOnce(
  tx: Transaction,
  drafts: readonly ChangeDraft[],
): Promise<Change[]> {
  const texts = (values: string[]): RawBuilder<unknown> => sql`cast(${values} as text[])`
  const { rows } = await sql<{ sequence: number }>`
    with locked as materialized (select pg_advisory_xact_lock(${sql.lit(changeLock)})),
    written as (
      insert into change (kind, organization_id, subject_id, at)
      select draft.kind, draft.organization_id, draft.subject_id, cast(${tx.now} as bigint)
      from locked, unnest(
        ${texts(drafts.map(({ kind }) => kind))},
        ${texts(drafts.map(({ organizationId }) => organizationId))},
        ${texts(drafts.map(({ subjectId }) => subjectId))}
      ) with ordinality as draft (kind, organization_id, subject_id, place)
      order by draft.place
      returning sequence
    ),
    told as (select pg_notify('intercept_change', cast(max(sequence) as text)) from written)
    select sequence from written, told order by sequence`.execute(tx.query)
  // Numbered in the order of the drafts.
  return rows.flatMap(({ sequence }, at) => {
    const draft = drafts[at]
    return draft === undefined ? [] : [{ ...draft, sequence }]
  })
}
