import type { Db, Tx } from '../../db/db.ts'

export interface OperationTable {
  id: string
  organization_id: string
  kind: string
  state: string
  parameters: string
  total: number
  done: number
  cursor: string
  error: string | null
  created_at: number
  created_by: string | null
  created_by_name: string | null
  updated_at: number
  finished_at: number | null
}

export type OperationState = 'running' | 'paused' | 'cancelled' | 'done' | 'failed'

/** Long work with progress; where it has got to is in the row, so that a restart goes on from there. */
export interface OperationRecord {
  readonly id: `op_${string}`
  readonly organizationId: string
  readonly kind: string
  readonly state: OperationState
  readonly parameters: Readonly<Record<string, unknown>>
  readonly total: number
  readonly done: number
  readonly cursor: string
  readonly error: string | undefined
  readonly createdAt: number
  readonly createdBy: string | undefined
  readonly createdByName: string | undefined
  readonly updatedAt: number
  readonly finishedAt: number | undefined
}

/** Adds an operation that runs at once. */
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
    .values({
      id: operation.id,
      organization_id: operation.organizationId,
      kind: operation.kind,
      state: 'running',
      parameters: JSON.stringify(operation.parameters),
      total: operation.total,
      done: 0,
      cursor: '',
      created_at: tx.now,
      created_by: operation.createdBy ?? null,
      created_by_name: operation.createdByName ?? null,
      updated_at: tx.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Goes on from one cursor to the next; false if somebody else moved it or it is no longer running. */
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

/** Moves from one of some states to another; undefined if it was in none of them. */
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

/** One operation. */
export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<OperationRecord | undefined> {
  const row = await db.query
    .selectFrom('operation')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** An organization's operations, newest first. */
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

/** The running operations of a kind, of every organization: what a node that starts goes on with. */
export async function listRunning(db: Db, kind: string): Promise<OperationRecord[]> {
  const rows = await db.query
    .selectFrom('operation')
    .selectAll()
    .where('state', '=', 'running')
    .where('kind', '=', kind)
    .orderBy('id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

// We wrote the parameters ourselves, checked.
function fromRow(row: OperationTable): OperationRecord {
  return {
    id: row.id as `op_${string}`,
    organizationId: row.organization_id,
    kind: row.kind,
    state: row.state as OperationState,
    parameters: JSON.parse(row.parameters) as Record<string, unknown>,
    total: row.total,
    done: row.done,
    cursor: row.cursor,
    error: row.error ?? undefined,
    createdAt: row.created_at,
    createdBy: row.created_by ?? undefined,
    createdByName: row.created_by_name ?? undefined,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at ?? undefined,
  }
}
