import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { ConnectionId } from './connections.ts'

export interface ConnectionTestTable {
  id: string
  connection_id: string
  organization_id: string
  user_id: string
  created_at: number
  finished_at: number | null
  passed: number | null
  result: string | null
}

/** A test sign-in through a connection; `result` is set once it has finished. */
export interface ConnectionTestRecord {
  readonly id: Id<'op'>
  readonly connectionId: ConnectionId
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly createdAt: number
  readonly finishedAt: number | undefined
  readonly passed: boolean | undefined
  readonly result: unknown
}

const keptPerConnection = 20

/** Adds a test and deletes all but the newest twenty of its connection. */
export async function insert(
  tx: Tx,
  started: Pick<ConnectionTestRecord, 'id' | 'connectionId' | 'organizationId' | 'userId'>,
): Promise<void> {
  await tx.query
    .insertInto('connection_test')
    .values({
      id: started.id,
      connection_id: started.connectionId,
      organization_id: started.organizationId,
      user_id: started.userId,
      created_at: tx.now,
      finished_at: null,
      passed: null,
      result: null,
    })
    .execute()
  const oldest = await tx.query
    .selectFrom('connection_test')
    .select('id')
    .where('connection_id', '=', started.connectionId)
    .orderBy('id', 'desc')
    .offset(keptPerConnection)
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined) return
  await tx.query
    .deleteFrom('connection_test')
    .where('connection_id', '=', started.connectionId)
    .where('id', '<=', oldest.id)
    .execute()
}

/** Finds the test with this id of a connection. */
export async function find(
  db: Db,
  {
    organizationId,
    connectionId,
    id,
  }: {
    readonly organizationId: string
    readonly connectionId: string
    readonly id: string
  },
): Promise<ConnectionTestRecord | undefined> {
  const row = await db.query
    .selectFrom('connection_test')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('connection_id', '=', connectionId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Stores the result once; returns whether the test was still open. */
export async function finish(
  tx: Tx,
  {
    organizationId,
    id,
    outcome,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly outcome: { passed: boolean; result: unknown }
  },
): Promise<boolean> {
  const done = await tx.query
    .updateTable('connection_test')
    .set({
      finished_at: tx.now,
      passed: outcome.passed ? 1 : 0,
      result: JSON.stringify(outcome.result),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

function fromRow(row: ConnectionTestTable): ConnectionTestRecord {
  return {
    id: row.id as Id<'op'>,
    connectionId: row.connection_id as ConnectionId,
    organizationId: row.organization_id as OrganizationId,
    userId: row.user_id as UserId,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    passed: row.passed === null ? undefined : row.passed === 1,
    result: row.result === null ? undefined : (JSON.parse(row.result) as unknown),
  }
}
