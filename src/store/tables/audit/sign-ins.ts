import { sql } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'

/** Entries that are about signing in. The index of sign-ins holds these three. */
export type SignInAction = 'session.started' | 'sso.signed_in' | 'sso.refused'

/** Steps of time; milliseconds since 1970, whole numbers. */
export interface SignInRange {
  readonly from: number
  readonly to: number
  readonly stepMs: number
}

/** An organization's sign-ins by the step of time they lie in, counted from 0; what is empty is missing. */
export async function countSignIns(
  db: Db,
  organizationId: OrganizationId,
  { from, to, stepMs }: SignInRange,
): Promise<
  readonly { readonly step: number; readonly action: SignInAction; readonly count: number }[]
> {
  // Written out: both engines see only then that the index holds all of them, and SQLite would divide with a fraction.
  const { rows } = await sql<{ step: number; action: SignInAction; count: number }>`
    select (at - ${sql.lit(from)}) / ${sql.lit(stepMs)} as step, action, count(*) as count
    from audit_entry
    where organization_id = ${organizationId} and at >= ${from} and at < ${to}
      and action in ('session.started', 'sso.signed_in', 'sso.refused')
    group by step, action`.execute(db.query)
  return rows
}
