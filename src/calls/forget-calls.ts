import { createId } from '../ids.ts'
import {
  callCounts,
  callPartitions,
  calls,
  keyCallers,
  traffic,
  type Store,
} from '../store/index.ts'
import { dayMs } from '../units.ts'

const rowsInCommit = 512
const subjectsInCommit = 16

/** Deletes records and counts older than the given time, in small commits that never hold up calls for long. */
export async function forgetCalls(store: Store, olderThanMs: number): Promise<void> {
  // Ids begin with their time, so an id minted for the cutoff time splits the range.
  const before = createId('req', olderThanMs)
  await forgetCounts(store, olderThanMs)
  await store.transaction(async (tx) => await keyCallers.forgetOldSecretCallers(tx, olderThanMs))
  await dropOldPartitions(store, olderThanMs)
  let id = await calls.nextOrganization(store.calls, '')
  while (id !== undefined) {
    const organizationId = id
    let gone = rowsInCommit
    while (gone === rowsInCommit) {
      gone = await store.transactionOnCalls(
        async (tx) =>
          await calls.forget(tx, { organizationId, beforeId: before, limit: rowsInCommit }),
      )
    }
    id = await calls.nextOrganization(store.calls, organizationId)
  }
}

/**
 * Drops the partitions whose records are all older than the given time, two at once: PostgreSQL deletes a dropped
 * table's files after it has released the locks, and that takes most of the time.
 */
export async function dropOldPartitions(store: Store, olderThanMs: number): Promise<void> {
  const dropAll = async (): Promise<void> => {
    let isDropped = true
    while (isDropped) {
      isDropped = await store.transactionOnCalls(
        async (tx) => await callPartitions.dropPartition(tx, olderThanMs),
      )
    }
  }
  await Promise.all([dropAll(), dropAll()])
}

/** Deletes counts per minute up to the cutoff, and counts of longer spans up to the start of the cutoff's day. */
async function forgetCounts(store: Store, olderThanMs: number): Promise<void> {
  let gone = rowsInCommit
  while (gone === rowsInCommit) {
    gone = await store.transactionOnCalls(
      async (tx) => await traffic.forgetMinutes(tx, olderThanMs, rowsInCommit),
    )
  }
  const beforeDay = olderThanMs - (olderThanMs % dayMs)
  let id = await callCounts.nextOrganization(store.calls, '')
  while (id !== undefined) {
    const organizationId = id
    let forgotten = subjectsInCommit
    while (forgotten === subjectsInCommit) {
      forgotten = await store.transactionOnCalls(
        async (tx) =>
          await callCounts.forget(tx, { organizationId, beforeDay, limit: subjectsInCommit }),
      )
    }
    id = await callCounts.nextOrganization(store.calls, organizationId)
  }
}
