import { auditEntries, type Store } from '../store/index.ts'
import { eachApart } from '../timers.ts'

const entriesInStep = 512

/**
 * Deletes entries older than a given time in small commits: deleting years of entries at once would delay calls on
 * SQLite, and exceed the statement timeout on PostgreSQL. Returns how many were deleted.
 */
export async function forgetEntries(store: Store, before: number): Promise<number> {
  let removed = 0
  const chains = await auditEntries.chainsBefore(store.slowReads, before)
  await eachApart(chains, async (organizationId) => {
    const step = { organizationId, before, limit: entriesInStep }
    for (let gone = entriesInStep; gone === entriesInStep; removed += gone) {
      gone = await store.transaction(async (tx) => await auditEntries.forget(tx, step))
    }
  })
  return removed
}
