import { sql } from 'kysely'
import { contains } from '../../db/contains.ts'
import type { Db, Tx } from '../../db/db.ts'
import * as settings from '../settings/settings.ts'
import { anchorName, anchorParts, readAnchor, sealHolds, sealOf, type ChainPlace } from './seals.ts'

// An arbitrary number for the advisory lock that keeps two nodes from shortening chains at once.
const retentionLock = 7_203_312

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

/**
 * Lists entries of an organization's chain in order, from a given sequence number on; from the lowest number if none is
 * given.
 */
export async function listFrom(
  db: Db,
  {
    organizationId,
    fromSequence,
    limit,
  }: {
    readonly organizationId: string
    readonly fromSequence?: number | undefined
    readonly limit: number
  },
): Promise<AuditTable[]> {
  let query = db.query
    .selectFrom('audit_entry')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('sequence')
    .limit(limit)
  if (fromSequence !== undefined) query = query.where('sequence', '>=', fromSequence)
  return await query.execute()
}

/** Lists a page of an organization's entries that match all given conditions, newest first. */
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
    const { search } = page
    query = query.where((eb) =>
      eb.or(
        (['action', 'actor_name', 'subject_id', 'detail', 'address', 'request_id'] as const).map(
          (column) => contains(db, sql.ref(column), search),
        ),
      ),
    )
  }
  if (page.from !== undefined) query = query.where('at', '>=', page.from)
  if (page.until !== undefined) query = query.where('at', '<', page.until)
  return await query.execute()
}

/**
 * Finds the end of an organization's chain, as the ledger recorded it; sequence number 0 if the organization has no
 * head.
 */
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

/**
 * Finds the anchor of an organization's chain: the last entry deleted by retention, or sequence number 0 if there is
 * none.
 */
export async function anchorOf(
  db: Db,
  organizationId: string,
): Promise<ChainPlace & { readonly isSealed: boolean }> {
  const text = await settings.find(db, anchorName(organizationId))
  if (text === undefined) return { sequence: 0, hash: '', isSealed: true }
  const { seal, ...place } = readAnchor(text)
  return { ...place, isSealed: sealHolds(db, seal, anchorParts(organizationId, place)) }
}

/** Lists every organization that has a head or entries, because forged entries may belong to one without a head. */
export async function chainIds(db: Db): Promise<string[]> {
  const heads = await db.query.selectFrom('organization_head').select('organization_id').execute()
  const owners = await db.query
    .selectFrom('audit_entry')
    .select('organization_id')
    .distinct()
    .execute()
  return [...new Set([...heads, ...owners].map((row) => row.organization_id))]
}

/** Lists the chains that have entries older than a given time. */
export async function chainsBefore(db: Db, before: number): Promise<string[]> {
  const rows = await db.query
    .selectFrom('audit_entry')
    .select('organization_id')
    .distinct()
    .where('at', '<', before)
    .execute()
  return rows.map((row) => row.organization_id)
}

/**
 * Deletes up to `limit` entries older than `before` from the front of a chain; returns how many. It stops at the first
 * younger entry, because a wrong clock may have dated later entries too early.
 */
export async function forget(
  tx: Tx,
  {
    organizationId,
    before,
    limit,
  }: { readonly organizationId: string; readonly before: number; readonly limit: number },
): Promise<number> {
  await takeLock(tx)
  const anchor = await anchorOf(tx, organizationId)
  // An anchor that we did not write is evidence of tampering: leave it untouched.
  if (!anchor.isSealed) return 0
  const head = await headOf(tx, organizationId)
  const first = await tx.query
    .selectFrom('audit_entry')
    .select(['sequence', 'hash', 'at'])
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', anchor.sequence)
    .where('sequence', '<=', head.sequence)
    .orderBy('sequence')
    .limit(limit)
    .execute()
  const young = first.findIndex(({ at }) => at >= before)
  const end = (young < 0 ? first : first.slice(0, young)).at(-1)
  if (end === undefined) return 0
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

/**
 * Makes nodes delete one after the other. Otherwise a slow node could overwrite the recorded beginning of a chain with
 * an older one, and the entries missing after that one would look like tampering.
 */
async function takeLock(tx: Tx): Promise<void> {
  if (tx.engine === 'sqlite') return
  await sql`select pg_advisory_xact_lock(${sql.lit(retentionLock)})`.execute(tx.query)
}
