import type { Connection, Transaction } from '../../db/db.ts'

export interface NodeTable {
  id: string
  started_at: number
  heartbeat_at: number
  seen_sequence: number
}

/** A running node says that it lives and how far it has read the change feed. */
export async function heartbeat(
  tx: Transaction,
  node: { id: string; seenSequence: number },
): Promise<void> {
  await tx.query
    .insertInto('node')
    .values({
      id: node.id,
      started_at: tx.now,
      heartbeat_at: tx.now,
      seen_sequence: node.seenSequence,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ heartbeat_at: tx.now, seen_sequence: node.seenSequence }),
    )
    .execute()
}

/** A node that stops takes its row with it. */
export async function leave(tx: Transaction, id: string): Promise<void> {
  await tx.query.deleteFrom('node').where('id', '=', id).execute()
}

/** Rows of nodes that died long ago. */
export async function forgetSilent(tx: Transaction, silentSince: number): Promise<void> {
  await tx.query.deleteFrom('node').where('heartbeat_at', '<', silentSince).execute()
}

/** The nodes heard of since a time, and how far each has read. */
export async function listSince(
  at: Connection,
  heardSince: number,
): Promise<{ id: string; seenSequence: number }[]> {
  const rows = await at.query
    .selectFrom('node')
    .select(['id', 'seen_sequence'])
    .where('heartbeat_at', '>=', heardSince)
    .execute()
  return rows.map((row) => ({ id: row.id, seenSequence: row.seen_sequence }))
}
