import { sql, type SqlBool } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import * as settings from '../settings/settings.ts'
import { anchorName, anchorParts, readAnchor, sealHolds, sealOf, type ChainPlace } from './seals.ts'

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
  db: Db,
  {
    organizationId,
    fromSequence,
    limit,
  }: {
    readonly organizationId: string
    readonly fromSequence: number
    readonly limit: number
  },
): Promise<AuditTable[]> {
  return await db.query
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
  db: Db,
  organizationId: string,
  page: {
    before?: number | undefined
    limit: number
    action?: string | undefined
    actorId?: string | undefined
    subjectId?: string | undefined
    search?: string | undefined
    from?: number | undefined
    until?: number | undefined
  },
): Promise<AuditTable[]> {
  let query = db.query
    .selectFrom('audit_entry')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('sequence', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('sequence', '<', page.before)
  if (page.action !== undefined) query = query.where('action', '=', page.action)
  if (page.actorId !== undefined) query = query.where('actor_id', '=', page.actorId)
  if (page.subjectId !== undefined) query = query.where('subject_id', '=', page.subjectId)
  if (page.search !== undefined) {
    const searched = page.search.toLowerCase()
    const find = sql.raw(db.engine === 'postgres' ? 'strpos' : 'instr')
    query = query.where((eb) =>
      eb.or(
        (['action', 'actor_name', 'subject_id', 'detail', 'address', 'request_id'] as const).map(
          (column) => sql<SqlBool>`${find}(lower(${sql.ref(column)}), ${searched}) > 0`,
        ),
      ),
    )
  }
  if (page.from !== undefined) query = query.where('at', '>=', page.from)
  if (page.until !== undefined) query = query.where('at', '<', page.until)
  return await query.execute()
}

/** How far an organization's chain goes, as the ledger noted it. */
export async function headOf(
  db: Db,
  organizationId: string,
): Promise<ChainPlace & { readonly seal: string }> {
  const row = await db.query
    .selectFrom('organization_head')
    .select(['audit_sequence', 'audit_hash', 'audit_seal'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return {
    sequence: row?.audit_sequence ?? 0,
    hash: row?.audit_hash ?? '',
    seal: row?.audit_seal ?? 'unsealed',
  }
}

/** What a chain begins after: nothing, or the last entry that retention took. */
export async function anchorOf(
  db: Db,
  organizationId: string,
): Promise<ChainPlace & { readonly isSealed: boolean }> {
  const text = await settings.find(db, anchorName(organizationId))
  if (text === undefined) return { sequence: 0, hash: '', isSealed: true }
  const { seal, ...place } = readAnchor(text)
  return { ...place, isSealed: sealHolds(db, seal, anchorParts(organizationId, place)) }
}

/** Everybody who has entries, and everybody who should: a chain of nobody's is no chain of ours. */
export async function chainIds(db: Db): Promise<string[]> {
  const heads = await db.query.selectFrom('organization_head').select('organization_id').execute()
  const owners = await db.query
    .selectFrom('audit_entry')
    .select('organization_id')
    .distinct()
    .execute()
  return [...new Set([...heads, ...owners].map((row) => row.organization_id))]
}

/**
 * Deletes entries older than a time from the front of each chain, up to the first that is younger, and notes where the
 * chains begin now: an entry that a wrong clock dated early takes none of its successors with it.
 */
export async function forget(tx: Tx, before: number): Promise<number> {
  const concerned = await tx.query
    .selectFrom('audit_entry')
    .select('organization_id')
    .distinct()
    .where('at', '<', before)
    .execute()
  let removed = 0
  for (const { organization_id: organizationId } of concerned) {
    removed += await forgetOf(tx, organizationId, before)
  }
  return removed
}

async function forgetOf(tx: Tx, organizationId: string, before: number): Promise<number> {
  const anchor = await anchorOf(tx, organizationId)
  // A beginning that we did not write is evidence: it is not made ours.
  if (!anchor.isSealed) return 0
  const head = await headOf(tx, organizationId)
  const young = await tx.query
    .selectFrom('audit_entry')
    .select('sequence')
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', anchor.sequence)
    .where('at', '>=', before)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst()
  const last = Math.min(head.sequence, (young?.sequence ?? head.sequence + 1) - 1)
  if (last <= anchor.sequence) return 0
  const [end] = await listFrom(tx, { organizationId, fromSequence: last, limit: 1 })
  if (end?.sequence !== last) return 0
  const place = { sequence: end.sequence, hash: end.hash }
  const seal = sealOf(tx, anchorParts(organizationId, place))
  await settings.set(tx, anchorName(organizationId), JSON.stringify({ ...place, seal }))
  const { numDeletedRows } = await tx.query
    .deleteFrom('audit_entry')
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', anchor.sequence)
    .where('sequence', '<=', end.sequence)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
