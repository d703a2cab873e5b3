import { sql, type OperationNodeSource, type RawBuilder } from 'kysely'
import type { Tx } from './db.ts'

/** A statement that changes rows and whose own answer nobody wants. */
export type Write = OperationNodeSource

// Eight lists of 500 rows, or so many single statements: far within PostgreSQL's 65,535 parameters.
const writesInStatement = 8

/**
 * Runs writes of different rows. PostgreSQL gets them as one statement: everybody else waits for the locks that are
 * held during each way there and back.
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
 * Runs writes of different rows, then a read of rows that none of them touches, and returns what it read: on PostgreSQL
 * as one statement, which sees what was committed before it began.
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
