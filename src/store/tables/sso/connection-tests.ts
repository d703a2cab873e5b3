import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import { columns, flag, json, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { ConnectionId } from './connections.ts'

const declared = {
  id: text<Id<'op'>>(),
  connectionId: text<ConnectionId>(),
  organizationId: text<OrganizationId>(),
  userId: text<UserId>(),
  createdAt: time(),
  finishedAt: maybe(time()),
  passed: maybe(flag()),
  result: maybe(json<unknown>()),
}
const { fromRow, toRow } = columns(declared, {})

/** A test sign-in through a connection; `result` is set once the test has finished. */
export type ConnectionTestRecord = RecordOf<typeof declared>
export type ConnectionTestTable = TableOf<typeof declared>

const keptPerConnection = 20

/** Adds a test and deletes all but the newest twenty of its connection. */
export async function insert(
  tx: Tx,
  started: Pick<ConnectionTestRecord, 'id' | 'connectionId' | 'organizationId' | 'userId'>,
): Promise<void> {
  await tx.query
    .insertInto('connection_test')
    .values(toRow({ ...started, createdAt: tx.now }))
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

/** Finds a test by its id, but never another connection's. */
export async function find(
  db: Db,
  connection: { readonly organizationId: string; readonly id: string },
  id: string,
): Promise<ConnectionTestRecord | undefined> {
  const row = await db.query
    .selectFrom('connection_test')
    .selectAll()
    .where('organization_id', '=', connection.organizationId)
    .where('connection_id', '=', connection.id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Stores a test's result; returns false if the test had already finished. */
export async function finish(
  tx: Tx,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
  outcome: { readonly passed: boolean; readonly result: unknown },
): Promise<boolean> {
  const done = await tx.query
    .updateTable('connection_test')
    .set(toRow({ ...outcome, finishedAt: tx.now }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}
