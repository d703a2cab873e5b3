import type { Connection, Transaction } from '../../db/db.ts'
import * as settings from '../settings/settings.ts'

export interface AuditTable {
  organization_id: string
  sequence: number
  id: string
  at: number
  actor_kind: string
  actor_id: string | null
  actor_name: string | null
  action: string
  subject_kind: string
  subject_id: string
  detail: string
  address: string | null
  request_id: string | null
  previous_hash: string
  hash: string
}

/** Rows of an organization's chain in their order, from a sequence on. */
export async function listFrom(
  at: Connection,
  organizationId: string,
  fromSequence: number,
  limit: number,
): Promise<AuditTable[]> {
  return await at.query
    .selectFrom('audit_entry')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>=', fromSequence)
    .orderBy('sequence')
    .limit(limit)
    .execute()
}

/** A page of an organization's entries, newest first, before a sequence. */
export async function list(
  at: Connection,
  organizationId: string,
  page: {
    before?: number | undefined
    limit: number
    action?: string | undefined
    actorId?: string | undefined
    subjectId?: string | undefined
    from?: number | undefined
    until?: number | undefined
  },
): Promise<AuditTable[]> {
  let query = at.query
    .selectFrom('audit_entry')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('sequence', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('sequence', '<', page.before)
  if (page.action !== undefined) query = query.where('action', '=', page.action)
  if (page.actorId !== undefined) query = query.where('actor_id', '=', page.actorId)
  if (page.subjectId !== undefined) query = query.where('subject_id', '=', page.subjectId)
  if (page.from !== undefined) query = query.where('at', '>=', page.from)
  if (page.until !== undefined) query = query.where('at', '<', page.until)
  return await query.execute()
}

/** How far an organization's chain goes, as the ledger noted it. */
export async function headOf(
  at: Connection,
  organizationId: string,
): Promise<{ sequence: number; hash: string }> {
  const row = await at.query
    .selectFrom('organization_head')
    .select(['audit_sequence', 'audit_hash'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return { sequence: row?.audit_sequence ?? 0, hash: row?.audit_hash ?? '' }
}

/** What a chain begins after: nothing, or the last entry that retention took. */
export async function anchorOf(
  at: Connection,
  organizationId: string,
): Promise<{ sequence: number; hash: string }> {
  const text = await settings.find(at, anchorName(organizationId))
  return text === undefined
    ? { sequence: 0, hash: '' }
    : (JSON.parse(text) as { sequence: number; hash: string })
}

/** Deletes entries older than a time from the front of each chain, and notes where the chains begin now. */
export async function forget(tx: Transaction, before: number): Promise<number> {
  const ends = await tx.query
    .selectFrom('audit_entry')
    .select((eb) => ['organization_id', eb.fn.max('sequence').as('last')])
    .where('at', '<', before)
    .groupBy('organization_id')
    .execute()
  let removed = 0
  for (const { organization_id: organizationId, last } of ends) {
    const [end] = await listFrom(tx, organizationId, last, 1)
    if (!end) continue
    await settings.set(
      tx,
      anchorName(organizationId),
      JSON.stringify({ sequence: end.sequence, hash: end.hash }),
    )
    const { numDeletedRows } = await tx.query
      .deleteFrom('audit_entry')
      .where('organization_id', '=', organizationId)
      .where('sequence', '<=', end.sequence)
      .executeTakeFirstOrThrow()
    removed += Number(numDeletedRows)
  }
  return removed
}

function anchorName(organizationId: string): string {
  return `audit_begins_after ${organizationId}`
}
