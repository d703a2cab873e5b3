import type { Tx } from '../../db/db.ts'

const deletedAtOnce = 10_000
// Nodes look up the last change they have read, so the most recent changes must stay.
const alwaysKept = 1000

/** Deletes changes older than a given time, at most 10,000 per call and none with the last 1,000 sequence numbers. */
export async function forgetChanges(tx: Tx, olderThan: number): Promise<void> {
  await tx.query
    .deleteFrom('change')
    .where('sequence', 'in', (eb) =>
      eb
        .selectFrom('change')
        .select('sequence')
        .where('at', '<', olderThan)
        .where('sequence', '<=', (max) =>
          max
            .selectFrom('change')
            .select((last) => last(last.fn.max('sequence'), '-', alwaysKept).as('kept')),
        )
        .orderBy('sequence')
        .limit(deletedAtOnce),
    )
    .execute()
}
