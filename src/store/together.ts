import { sql, type OperationNodeSource } from 'kysely'
import type { Transaction } from './connection.ts'

/** A statement that changes rows and whose own answer nobody wants. */
export type Write = OperationNodeSource

// 500 rows of 14 parameters each, eight times: within PostgreSQL's 65,535.
const writesInStatement = 8

/**
 * Runs writes of different rows. PostgreSQL gets them as one statement: everybody else waits for the locks that are
 * held during each way there and back.
 */
export async function together(tx: Transaction, writes: readonly Write[]): Promise<void> {
  if (tx.engine === 'sqlite') {
    for (const write of writes) await sql`${write}`.execute(tx.query)
    return
  }
  for (let from = 0; from < writes.length; from += writesInStatement) {
    const parts = writes
      .slice(from, from + writesInStatement)
      .map((write, at) => sql`${sql.ref(`part_${at}`)} as (${write})`)
    await sql`with ${sql.join(parts)} select 1`.execute(tx.query)
  }
}
