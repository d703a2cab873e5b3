import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'

/**
 * Finds the next organization, in id order, that has rows in a table, in one step along the primary key; undefined
 * after the last one.
 */
export async function nextOrganizationIn(
  db: Db,
  table: 'call_block' | 'call_other' | 'call_day',
  after: string,
): Promise<OrganizationId | undefined> {
  const row = await db.query
    .selectFrom(table)
    .select('organization_id')
    .where('organization_id', '>', after)
    .orderBy('organization_id')
    .limit(1)
    .executeTakeFirst()
  return row?.organization_id as OrganizationId | undefined
}
