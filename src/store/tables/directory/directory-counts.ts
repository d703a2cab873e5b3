import { sql, type RawBuilder } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { DirectoryTableName } from './directory-conditions.ts'

export interface DirectoryCountTable {
  organization_id: string
  kind: string
  bucket: number
  amount: number
}

export interface DirectoryTable {
  organization_id: string
  next_position: number
  last_request_at: number | null
}

/** The number of positions that share one count. */
export const bucketSize = 1000

export function bucketOf(position: number): number {
  return Math.floor(position / bucketSize)
}

/** Creates an organization's directory row if it does not exist yet. */
export async function ensure(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await tx.query
    .insertInto('directory')
    .values({ organization_id: organizationId, next_position: 1, last_request_at: null })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .execute()
}

/**
 * Locks an organization's directory until the transaction ends, so that what is read of the directory after this stays
 * true until then.
 */
export async function hold(tx: Tx, organizationId: OrganizationId): Promise<void> {
  if (tx.engine === 'sqlite') return
  await sql`select 1 from directory where organization_id = ${organizationId} for update`.execute(
    tx.query,
  )
}

/**
 * Takes the next position. The directory's row stays locked until the commit, so that positions become visible in
 * order.
 */
export async function takePosition(tx: Tx, organizationId: OrganizationId): Promise<number> {
  const row = await tx.query
    .updateTable('directory')
    .set((eb) => ({ next_position: eb('next_position', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .returning('next_position')
    .executeTakeFirstOrThrow()
  return row.next_position - 1
}

/** Adds 1 or -1 to the count of a position's bucket. */
export async function addToCount(
  tx: Tx,
  {
    table,
    organizationId,
    position,
    amount,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly position: number
    readonly amount: 1 | -1
  },
): Promise<void> {
  await tx.query
    .insertInto('directory_count')
    .values({
      organization_id: organizationId,
      kind: kindOf(table),
      bucket: bucketOf(position),
      amount,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'kind', 'bucket'])
        .doUpdateSet((eb) => ({ amount: eb('directory_count.amount', '+', amount) })),
    )
    .execute()
}

/** Counts the rows in a given bucket and all later ones, and adds `more`, which is read in the same statement. */
export async function countFrom(
  db: Db,
  {
    table,
    organizationId,
    bucket,
    more = sql<number>`0`,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly bucket: number
    readonly more?: RawBuilder<number> | undefined
  },
): Promise<number> {
  const { rows } = await sql<{ amount: number }>`select cast(coalesce((
      select sum(amount) from directory_count
      where organization_id = ${organizationId} and kind = ${kindOf(table)} and bucket >= ${bucket}
    ), 0) as bigint) + ${more} as amount`.execute(db.query)
  return rows[0]?.amount ?? 0
}

/** Lists the counts of a given bucket and all later ones, in order; empty buckets are left out. */
export async function countsFrom(
  db: Db,
  {
    table,
    organizationId,
    bucket,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly bucket: number
  },
): Promise<{ bucket: number; amount: number }[]> {
  return await db.query
    .selectFrom('directory_count')
    .select(['bucket', 'amount'])
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kindOf(table))
    .where('bucket', '>=', bucket)
    .where('amount', '>', 0)
    .orderBy('bucket')
    .execute()
}

function kindOf(table: DirectoryTableName): string {
  return table === 'directory_user' ? 'user' : 'group'
}
