import { sql } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'

/** An identifier shared by several users of a directory. */
export interface DuplicateIdentifier {
  readonly kind: 'external_id' | 'address'
  readonly value: string
  /** The ids of up to five of the users who share it. */
  readonly userIds: readonly string[]
}

const maxUsers = 5

/** Lists identifiers that several users share, external ids first. It scans every address, so pass `slowReads`. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  limit: number,
): Promise<DuplicateIdentifier[]> {
  const { rows: ids } = await sql<{ value: string }>`
    select external_id as value from directory_user
    where organization_id = ${organizationId} and external_id is not null
      and shared_external_id <> ''
    group by external_id order by external_id limit ${limit}`.execute(db.query)
  const { rows: addresses } = await sql<{ value: string }>`
    select value_key as value from directory_email
    where organization_id = ${organizationId}
    group by value_key having count(*) > 1 order by value_key limit ${limit}`.execute(db.query)
  const found: DuplicateIdentifier[] = []
  for (const { value } of ids) {
    const userIds = await usersWithExternalId(db, organizationId, value)
    // A user stays marked as sharing an external id even if nobody else has it any more.
    if (userIds.length > 1) found.push({ kind: 'external_id', value, userIds })
  }
  for (const { value } of addresses.slice(0, limit - found.length)) {
    const userIds = await usersWithAddress(db, organizationId, value)
    found.push({ kind: 'address', value, userIds })
  }
  return found
}

async function usersWithExternalId(
  db: Db,
  organizationId: OrganizationId,
  value: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from directory_user
    where organization_id = ${organizationId} and external_id = ${value}
    order by id limit ${maxUsers}`.execute(db.query)
  return rows.map(({ id }) => id)
}

async function usersWithAddress(
  db: Db,
  organizationId: OrganizationId,
  value: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select directory_user_id as id from directory_email
    where organization_id = ${organizationId} and value_key = ${value}
    order by directory_user_id limit ${maxUsers}`.execute(db.query)
  return rows.map(({ id }) => id)
}
