import type { OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface ManagedTable {
  organization_id: string
  section: string
  name: string
  subject_id: string | null
  label: string
  entry: string
  secrets_sealed: string | null
  drifted_at: number | null
}

export interface ManagedCheckTable {
  organization_id: string
  sequence: number
}

/** A thing that a configuration file manages, as last applied. */
export interface ManagedRecord {
  readonly section: string
  /** The thing's name in the file. */
  readonly name: string
  /** Undefined for a group that the directory has not created yet. */
  readonly subjectId: string | undefined
  /** The label that identifies the file. */
  readonly label: string
  readonly entry: Readonly<Record<string, unknown>>
  /** The sealed digests of the thing's secrets, by the path of each secret in the entry. */
  readonly secretsSealed: string | undefined
  readonly driftedAt: number | undefined
}

const rowsInStatement = 500

/** Lists everything in an organization that configuration files manage. */
export async function list(at: Db, organizationId: OrganizationId): Promise<ManagedRecord[]> {
  const rows = await at.query
    .selectFrom('managed')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('section')
    .orderBy('name')
    .execute()
  return rows.map(fromRow)
}

/**
 * Finds the record of a managed thing by the thing's id or by its name within its section; undefined if no file manages
 * it.
 */
export async function find(
  at: Db,
  organizationId: OrganizationId,
  { section, idOrName }: { readonly section: string; readonly idOrName: string },
): Promise<ManagedRecord | undefined> {
  const row = await at.query
    .selectFrom('managed')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('section', '=', section)
    .where((eb) => eb.or([eb('subject_id', '=', idOrName), eb('name', '=', idOrName)]))
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Lists a page of managed things, ordered by section and name. */
export async function page(
  at: Db,
  organizationId: OrganizationId,
  of: {
    /** The last thing on the previous page. */
    readonly after?: Pick<ManagedRecord, 'section' | 'name'> | undefined
    readonly section?: string | undefined
    /** Only things with these ids. */
    readonly subjectIds?: readonly string[] | undefined
    readonly limit: number
  },
): Promise<ManagedRecord[]> {
  const { section = '', name = '' } = of.after ?? {}
  let query = at.query
    .selectFrom('managed')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) =>
      eb.or([
        eb('section', '>', section),
        eb.and([eb('section', '=', section), eb('name', '>', name)]),
      ]),
    )
  if (of.section !== undefined) query = query.where('section', '=', of.section)
  if (of.subjectIds !== undefined) query = query.where('subject_id', 'in', of.subjectIds)
  const rows = await query.orderBy('section').orderBy('name').limit(of.limit).execute()
  return rows.map(fromRow)
}

/** Records what was applied, replacing any previous entry with the same section and name. */
export async function put(
  tx: Tx,
  organizationId: OrganizationId,
  things: readonly Omit<ManagedRecord, 'driftedAt'>[],
): Promise<void> {
  for (let from = 0; from < things.length; from += rowsInStatement) {
    const rows = things.slice(from, from + rowsInStatement).map((thing) => ({
      organization_id: organizationId,
      section: thing.section,
      name: thing.name,
      subject_id: thing.subjectId ?? null,
      label: thing.label,
      entry: JSON.stringify(thing.entry),
      secrets_sealed: thing.secretsSealed ?? null,
      drifted_at: null,
    }))
    await tx.query
      .insertInto('managed')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'section', 'name']).doUpdateSet((eb) => ({
          subject_id: eb.ref('excluded.subject_id'),
          label: eb.ref('excluded.label'),
          entry: eb.ref('excluded.entry'),
          secrets_sealed: eb.ref('excluded.secrets_sealed'),
          drifted_at: null,
        })),
      )
      .execute()
  }
}

/** Stops managing a thing; returns whether a file managed it. */
export async function remove(
  tx: Tx,
  organizationId: OrganizationId,
  { section, name }: { readonly section: string; readonly name: string },
): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('managed')
    .where('organization_id', '=', organizationId)
    .where('section', '=', section)
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/**
 * Records that a thing now differs from its file, or that it no longer does; returns whether that changed what was
 * recorded.
 */
export async function noteDrift(
  tx: Tx,
  organizationId: OrganizationId,
  { row, drifted }: { readonly row: ManagedRecord; readonly drifted: boolean },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('managed')
    .set({ drifted_at: drifted ? tx.now : null })
    .where('organization_id', '=', organizationId)
    .where('section', '=', row.section)
    .where('name', '=', row.name)
    // If any of these values has changed since the comparison, nothing is recorded.
    .where('entry', '=', JSON.stringify(row.entry))
    .where('subject_id', 'is not distinct from', row.subjectId ?? null)
    .where('secrets_sealed', 'is not distinct from', row.secretsSealed ?? null)
    .where('drifted_at', drifted ? 'is' : 'is not', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Lists organizations that have managed things and audit entries newer than their last comparison. */
export async function listUnchecked(
  at: Db,
  limit: number,
): Promise<{ organizationId: OrganizationId; sequence: number }[]> {
  const rows = await at.query
    .selectFrom('organization_head')
    .leftJoin('managed_check', 'managed_check.organization_id', 'organization_head.organization_id')
    .select(['organization_head.organization_id', 'organization_head.audit_sequence as sequence'])
    .where((eb) =>
      eb(
        'organization_head.audit_sequence',
        '>',
        eb.fn.coalesce('managed_check.sequence', eb.lit(-1)),
      ),
    )
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('managed')
          .select('name')
          .whereRef('managed.organization_id', '=', 'organization_head.organization_id'),
      ),
    )
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    organizationId: row.organization_id as OrganizationId,
    sequence: row.sequence,
  }))
}

/** Records the last audit entry that was considered when an organization was last compared with its files. */
export async function noteChecked(
  tx: Tx,
  organizationId: OrganizationId,
  sequence: number,
): Promise<void> {
  await tx.query
    .insertInto('managed_check')
    .values({ organization_id: organizationId, sequence })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ sequence }))
    .execute()
}

function fromRow(row: ManagedTable): ManagedRecord {
  return {
    section: row.section,
    name: row.name,
    subjectId: row.subject_id ?? undefined,
    label: row.label,
    entry: JSON.parse(row.entry) as Record<string, unknown>,
    secretsSealed: row.secrets_sealed ?? undefined,
    driftedAt: row.drifted_at ?? undefined,
  }
}
