import { sql, type OperationNodeSource, type RawBuilder } from 'kysely'
import type { Tx } from './db.ts'

/** A statement that changes rows and whose result is not needed. */
export type Write = OperationNodeSource

// Eight writes stay far below the 65,535 parameters that PostgreSQL accepts in a statement.
const writesInStatement = 8

/**
 * Runs writes that touch different rows. PostgreSQL gets up to eight of them in one statement, because every round trip
 * made while holding locks keeps other transactions waiting.
 */
export async function together(tx: Tx, writes: readonly Write[]): Promise<void> {
  if (tx.engine === 'sqlite') {
    for (const write of writes) await sql`${write}`.execute(tx.query)
    return
  }
  for (let from = 0; from < writes.length; from += writesInStatement) {
    const parts = named(writes.slice(from, from + writesInStatement))
    await sql`with ${sql.join(parts)} select 1`.execute(tx.query)
  }
}

/**
 * Runs writes that touch different rows, then a read of other rows. On PostgreSQL the read is part of the last
 * statement and does not see that statement's writes.
 */
export async function togetherThen<T>(
  tx: Tx,
  writes: readonly Write[],
  read: RawBuilder<T>,
): Promise<T[]> {
  if (tx.engine === 'sqlite') {
    await together(tx, writes)
    return (await read.execute(tx.query)).rows
  }
  const last = writes.slice(-writesInStatement)
  await together(tx, writes.slice(0, -writesInStatement))
  if (last.length === 0) return (await read.execute(tx.query)).rows
  return (await sql<T>`with ${sql.join(named(last))} ${read}`.execute(tx.query)).rows
}

function named(writes: readonly Write[]): RawBuilder<unknown>[] {
  return writes.map((write, at) => sql`${sql.ref(`part_${at}`)} as (${write})`)
}
