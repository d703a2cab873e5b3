import { sql } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'

/** The actions that are counted as sign-ins; the index on sign-ins contains exactly these three. */
export type SignInAction = 'session.started' | 'sso.signed_in' | 'sso.refused'

/** A time range and the length of its steps, all in whole milliseconds. */
export interface SignInRange {
  readonly from: number
  readonly to: number
  readonly stepMs: number
}

/**
 * Counts an organization's sign-ins by time step and action. Steps are numbered from 0; those without sign-ins are left
 * out.
 */
export async function countSignIns(
  db: Db,
  organizationId: OrganizationId,
  { from, to, stepMs }: SignInRange,
): Promise<
  readonly { readonly step: number; readonly action: SignInAction; readonly count: number }[]
> {
  // Literals instead of parameters let both engines see that the index covers every match, and make SQLite divide as
  // integers.
  const { rows } = await sql<{ step: number; action: SignInAction; count: number }>`
    select (at - ${sql.lit(from)}) / ${sql.lit(stepMs)} as step, action, count(*) as count
    from audit_entry
    where organization_id = ${organizationId} and at >= ${from} and at < ${to}
      and action in ('session.started', 'sso.signed_in', 'sso.refused')
    group by step, action`.execute(db.query)
  return rows
}
