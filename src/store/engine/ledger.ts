import { sql } from 'kysely'
import { createId } from '../../ids.ts'
import { digest, randomHex } from '../../secrets/index.ts'
import { toStorable } from '../../storable.ts'
import { lockLimits } from '../db/brief-locks.ts'
import { subjectText, type Change, type ChangeDraft } from '../db/changes.ts'
import type { AuditDraft, Collected, EventDraft, Tx } from '../db/db.ts'
import { headParts, sealHolds, sealOf } from '../tables/audit/seals.ts'
import { endpointsOf, fanOut } from '../tables/webhooks/fan-out.ts'
import { insertion } from '../db/insertion.ts'
import { snakeCased } from '../db/snake-case.ts'
import { together, togetherThen, type Write } from '../db/together.ts'

const eventApiVersion = 'v1'
const tokenBytes = 8
const endpointsNamed = 10
const maxUsualEventBytes = 64 * 1024

/**
 * Writes what a transaction has collected, as its last step, and returns the changes with their sequence numbers.
 * Organizations are locked in sorted order so that transactions cannot deadlock.
 */
export async function writeLedger(
  tx: Tx,
  collected: Collected,
  commitChanges?: CommitChanges,
): Promise<Change[]> {
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
  if (collected.changes.length === 0) return []
  return await (commitChanges ?? writeChanges)(tx, collected.changes)
}

/** Thrown when an organization has no head row, for example because the database was restored from an older backup. */
export class UnknownOrganization extends Error {
  readonly organizationId: string

  constructor(organizationId: string) {
    super(`organization ${organizationId} has no head row`)
    this.organizationId = organizationId
  }
}

/** Writes changes and commits, so that on PostgreSQL no node keeps the lock under which all nodes number changes. */
export type CommitChanges = (tx: Tx, drafts: readonly ChangeDraft[]) => Promise<Change[]>

async function writeForOrganization(
  tx: Tx,
  organizationId: string,
  drafts: { audits: AuditDraft[]; events: EventDraft[]; changes: ChangeDraft[] },
): Promise<void> {
  const head = await lockHead(tx, organizationId, drafts)

  const audits = auditWrites(tx, head, drafts.audits)
  if (drafts.events.length === 0) return await together(tx, audits)
  const toSend = await writeEvents(tx, head, { drafts: drafts.events, audits })
  if (toSend.length > 0) {
    // If only a few endpoints have deliveries, the change names them, so that nodes check no others.
    const endpointIds = toSend.length <= endpointsNamed ? toSend : 'all'
    drafts.changes.push({ kind: 'delivery', organizationId, endpointIds })
  }
}

interface Head {
  readonly organizationId: string
  readonly audit_sequence: number
  readonly event_sequence: number
  readonly audit_hash: string
  readonly audit_seal: string
}

/** Locks an organization's head and reserves the next sequence numbers. */
async function lockHead(
  tx: Tx,
  organizationId: string,
  { audits, events }: { audits: readonly AuditDraft[]; events: readonly EventDraft[] },
): Promise<Head> {
  // The lock settings must take effect before this statement waits for the row; they last until the commit.
  const settled =
    tx.engine === 'sqlite'
      ? sql`settled as (select 1)`
      : sql`settled as materialized (select ${lockLimits()})`
  const { rows } = await sql<Omit<Head, 'organizationId'>>`with ${settled}
    update organization_head
    set audit_sequence = audit_sequence + ${audits.length},
      event_sequence = event_sequence + ${events.length}
    from settled
    where organization_id = ${organizationId}
    returning audit_sequence, event_sequence, audit_hash, audit_seal`.execute(tx.query)
  const [head] = rows
  if (head === undefined) throw new UnknownOrganization(organizationId)
  return { ...head, organizationId }
}

function auditWrites(tx: Tx, head: Head, drafts: readonly AuditDraft[]): Write[] {
  if (drafts.length === 0) return []
  const { organizationId } = head
  let previousHash = head.audit_hash
  let sequence = head.audit_sequence - drafts.length
  const before = headParts(organizationId, { sequence, hash: previousHash })
  const rows = drafts.map((draft) => {
    sequence += 1
    const row = {
      organization_id: organizationId,
      sequence,
      id: createId('aud', tx.now),
      at: tx.now,
      actor_kind: draft.actor.kind,
      actor_id: asStored(draft.actor.id),
      actor_name: asStored(draft.actor.name),
      action: draft.action,
      subject_kind: draft.subject.kind,
      subject_id: toStorable(draft.subject.id),
      detail: JSON.stringify(snakeCased(draft.detail)),
      address: asStored(draft.actor.address),
      request_id: asStored(draft.actor.requestId),
      previous_hash: previousHash,
    }
    const hash = auditHash(row)
    previousHash = hash
    return { ...row, hash }
  })
  const after = headParts(organizationId, { sequence, hash: previousHash })
  // A head that somebody tampered with keeps its invalid seal: adding an entry must not make the head look authentic.
  const seal = sealHolds(tx, head.audit_seal, before) ? sealOf(tx, after) : head.audit_seal
  return [
    // These numbers were reserved just now, so none of our entries has them yet. A row that already has one was put
    // there by someone else; it is overwritten, because it would block all further entries.
    ...insertion(tx, {
      table: 'audit_entry',
      types: auditColumns,
      rows,
      replaces: ['organization_id', 'sequence'],
    }),
    tx.query
      .updateTable('organization_head')
      .set({ audit_hash: previousHash, audit_seal: seal })
      .where('organization_id', '=', organizationId),
  ]
}

/**
 * Returns a text as the database will return it, because the hash must cover exactly that. Names from providers may
 * contain lone surrogates, which UTF-8 cannot encode.
 */
function asStored(text: string | undefined): string | null {
  return text === undefined ? null : toStorable(text)
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

/** The columns of an audit entry that say who did what to what, and from where. */
export const auditContentColumns = [
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

/** The columns that an audit entry's hash covers, in order. */
export const hashedAuditColumns = [
  'previous_hash',
  'organization_id',
  'sequence',
  'id',
  'at',
  ...auditContentColumns,
] as const

/** Computes the hash of an audit entry: SHA-256 over its columns and the previous entry's hash, as one JSON array. */
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

/**
 * Writes events, their deliveries and the given audit entries; returns the ids of the endpoints that have new
 * deliveries to send.
 */
async function writeEvents(
  tx: Tx,
  { organizationId, event_sequence: lastSequence }: Head,
  { drafts, audits }: { drafts: readonly EventDraft[]; audits: readonly Write[] },
): Promise<readonly string[]> {
  let sequence = lastSequence - drafts.length
  const rows = drafts.map((draft) => {
    sequence += 1
    const id = draft.id ?? createId('evt', tx.now)
    const body = eventBody(tx, { ...draft, id, sequence })
    return { organization_id: organizationId, sequence, id, type: draft.type, at: tx.now, body }
  })
  // These numbers were reserved just now, so none of our events has them yet. A row that already has one was put there
  // by someone else; it is overwritten, because it would block all further events.
  const insertions = insertion(tx, {
    table: 'event',
    types: eventColumns,
    rows,
    replaces: ['organization_id', 'sequence'],
  })
  const written = rows.map(({ id, sequence: number, type }, at) => {
    return { id, sequence: number, type, onlyEndpointId: drafts[at]?.onlyEndpointId }
  })
  const endpoints = await togetherThen(tx, [...audits, ...insertions], endpointsOf(organizationId))
  const { endpointIds, writes } = fanOut(tx, { organizationId, events: written, endpoints })
  await together(tx, writes)
  return endpointIds
}

/**
 * Serializes an event once, because all its deliveries must send the same bytes. An event that is too large is kept
 * without its data.
 */
function eventBody(
  tx: Tx,
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
  const maxBytes = tx.maxEventBytes ?? maxUsualEventBytes
  return body.length <= maxBytes ? body : render({ left_out_bytes: body.length })
}

async function writeChanges(tx: Tx, drafts: readonly ChangeDraft[]): Promise<Change[]> {
  const changes: Change[] = []
  for (const draft of drafts) {
    const token = randomHex(tokenBytes)
    const { sequence } = await tx.query
      .insertInto('change')
      .values({
        kind: draft.kind,
        organization_id: draft.organizationId,
        subject_id: subjectText(draft),
        at: tx.now,
        token,
      })
      .returning('sequence')
      .executeTakeFirstOrThrow()
    changes.push({ ...draft, sequence, token })
  }
  return changes
}
