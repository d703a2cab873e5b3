import type { OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import * as settings from '../settings/settings.ts'

export interface AuditExportTable {
  organization_id: string
  sequence: number
  announced_sequence: number
  announced_at: number
}

const leaseName = 'audit_export_lease'

/** A chain that has entries still to be exported. */
export interface UnsentChain {
  readonly organizationId: string
  /** The sequence number of the last exported entry; 0 if there is none. */
  readonly sent: number
}

/** Lists up to `limit` chains that have entries beyond the last exported one. */
export async function listUnsent(db: Db, limit: number): Promise<UnsentChain[]> {
  const rows = await db.query
    .selectFrom('organization_head')
    .leftJoin('audit_export', 'audit_export.organization_id', 'organization_head.organization_id')
    .select((eb) => [
      'organization_head.organization_id',
      eb.fn.coalesce('audit_export.sequence', eb.lit(0)).as('sent'),
    ])
    .whereRef('organization_head.audit_sequence', '>', (eb) =>
      eb.fn.coalesce('audit_export.sequence', eb.lit(0)),
    )
    .orderBy('organization_head.organization_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ organizationId: row.organization_id, sent: row.sent }))
}

/** Records the last exported entry of a chain, unless a later one is recorded already. */
export async function setSent(tx: Tx, { organizationId, sent }: UnsentChain): Promise<void> {
  await tx.query
    .insertInto('audit_export')
    .values({
      organization_id: organizationId,
      sequence: sent,
      announced_sequence: 0,
      announced_at: 0,
    })
    .onConflict((conflict) =>
      conflict
        .column('organization_id')
        .doUpdateSet({ sequence: sent })
        .where('audit_export.sequence', '<', sent),
    )
    .execute()
}

/**
 * Lists the organizations whose chains have entries beyond the last announced head, if that head was announced at
 * `before` or earlier, or if none was ever announced.
 */
export async function listUnannounced(
  db: Db,
  due: { readonly before: number; readonly limit: number },
): Promise<OrganizationId[]> {
  const rows = await db.query
    .selectFrom('organization_head')
    .innerJoin('organization', 'organization.id', 'organization_head.organization_id')
    .leftJoin('audit_export', 'audit_export.organization_id', 'organization_head.organization_id')
    .select('organization_head.organization_id')
    .whereRef('organization_head.audit_sequence', '>', (eb) =>
      eb.fn.coalesce('audit_export.announced_sequence', eb.lit(0)),
    )
    .where((eb) => eb.fn.coalesce('audit_export.announced_at', eb.lit(0)), '<=', due.before)
    .orderBy('organization_head.organization_id')
    .limit(due.limit)
    .execute()
  return rows.map((row) => row.organization_id as OrganizationId)
}

/**
 * Records that a chain's head was announced. If one of the chain's heads was announced after `before`, records nothing
 * and returns false.
 */
export async function setAnnounced(
  tx: Tx,
  head: { readonly organizationId: string; readonly sequence: number; readonly before: number },
): Promise<boolean> {
  const announced = { announced_sequence: head.sequence, announced_at: tx.now }
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('audit_export')
    .values({ organization_id: head.organizationId, sequence: 0, ...announced })
    .onConflict((conflict) =>
      conflict
        .column('organization_id')
        .doUpdateSet(announced)
        .where('audit_export.announced_at', '<=', head.before),
    )
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows) > 0
}

/** Acquires or renews the exporter's lease; false while another process holds it. */
export async function takeTurn(
  tx: Tx,
  turn: { readonly holder: string; readonly ttlMs: number },
): Promise<boolean> {
  const before = await settings.find(tx, leaseName)
  const [holder, until] = before?.split(' ') ?? []
  if (holder !== undefined && holder !== turn.holder && Number(until) > tx.now) return false
  const value = `${turn.holder} ${tx.now + turn.ttlMs}`
  return await settings.swap(tx, { name: leaseName, before, value })
}
