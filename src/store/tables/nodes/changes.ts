import type { Transaction } from '../../db/db.ts'

const deletedAtOnce = 10_000

/** Deletes changes older than a time, a bounded number at once. */
export async function forgetChanges(tx: Transaction, olderThan: number): Promise<void> {
  await tx.query
    .deleteFrom('change')
    .where('sequence', 'in', (eb) =>
      eb
        .selectFrom('change')
        .select('sequence')
        .where('at', '<', olderThan)
        .orderBy('sequence')
        .limit(deletedAtOnce),
    )
    .execute()
}
