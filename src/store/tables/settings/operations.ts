import { sql } from 'kysely'
import { columns, json, maybe, number, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import { ownRow } from '../../db/own-rows.ts'

export type OperationState = 'running' | 'paused' | 'cancelled' | 'done' | 'failed'

const declared = {
  id: text<`op_${string}`>(),
  organizationId: text(),
  kind: text(),
  state: text<OperationState>(),
  parameters: json<Readonly<Record<string, unknown>>>(),
  total: number(),
  done: number(),
  cursor: text(),
  error: maybe(text()),
  createdAt: time(),
  createdBy: maybe(text()),
  createdByName: maybe(text()),
  updatedAt: time(),
  finishedAt: maybe(time()),
}
const { fromRow, toRow } = columns(declared, {})

/** A long-running operation and its progress, from which it continues after a restart. */
export type OperationRecord = RecordOf<typeof declared>
export type OperationTable = TableOf<typeof declared>

export async function insert(
  tx: Tx,
  operation: {
    id: `op_${string}`
    organizationId: string
    kind: string
    parameters: Readonly<Record<string, unknown>>
    total: number
    createdBy: string | undefined
    createdByName: string | undefined
  },
): Promise<OperationRecord> {
  const row = await tx.query
    .insertInto('operation')
    .values(
      toRow({
        ...operation,
        state: 'running',
        done: 0,
        cursor: '',
        createdAt: tx.now,
        updatedAt: tx.now,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Moves an operation's cursor forward; false if another node has moved it or the operation is no longer running. */
export async function advance(
  tx: Tx,
  operation: OperationRecord,
  step: { cursor: string; done: number; finished: boolean },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('operation')
    .set({
      cursor: step.cursor,
      done: operation.done + step.done,
      updated_at: tx.now,
      ...(step.finished ? { state: 'done', finished_at: tx.now } : {}),
    })
    .where('organization_id', '=', operation.organizationId)
    .where('id', '=', operation.id)
    .where('state', '=', 'running')
    .where('cursor', '=', operation.cursor)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Changes an operation's state; undefined unless it was in one of the expected states. */
export async function setState(
  tx: Tx,
  {
    organizationId,
    id,
    change,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly change: { from: readonly OperationState[]; to: OperationState; error?: string }
  },
): Promise<OperationRecord | undefined> {
  const ends = change.to === 'cancelled' || change.to === 'done' || change.to === 'failed'
  const row = await tx.query
    .updateTable('operation')
    .set({
      state: change.to,
      updated_at: tx.now,
      finished_at: ends ? tx.now : null,
      error: change.error ?? null,
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('state', 'in', change.from)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<OperationRecord | undefined> {
  const row = await ownRow(db, 'operation', { organizationId, id })
  return row && fromRow(row)
}

export async function list(
  db: Db,
  organizationId: string,
  page: { before?: string | undefined; limit: number },
): Promise<OperationRecord[]> {
  const { before } = page
  const rows = await db.query
    .selectFrom('operation')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

const maxOfOrganization = 5

/**
 * Lists up to 100 running operations of a kind, at most five of each organization, in an order in which an organization
 * with many operations can't crowd out the others.
 */
export async function listRunning(db: Db, kind: string): Promise<OperationRecord[]> {
  const rows = await db.query
    .selectFrom((eb) =>
      eb
        .selectFrom('operation')
        .selectAll()
        .select(
          sql<number>`row_number() over (partition by organization_id order by id)`.as('place'),
        )
        .where('state', '=', 'running')
        .where('kind', '=', kind)
        .as('ranked'),
    )
    .selectAll()
    .where('place', '<=', maxOfOrganization)
    .orderBy('place')
    .orderBy('id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}
