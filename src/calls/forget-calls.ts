import { createId } from '../ids.ts'
import {
  callCounts,
  callPartitions,
  calls,
  keyCallers,
  oldCounts,
  traffic,
  type CountsBySubject,
  type Store,
} from '../store/index.ts'
import { nextTurn } from '../timers.ts'
import { dayMs } from '../units.ts'

const rowsInCommit = 512
const subjectsInCommit = 16
const rowsInRead = 8192
/**
 * Two months of 31 days: a quota's longest period is a month, and a node whose clock is slow may still use the previous
 * period.
 */
const quotaPeriodsKeptMs = 62 * dayMs
/** The page of a target shows its rules' counts of the last seven days, however short the retention of calls is. */
const ruleDaysKeptMs = 8 * dayMs

/**
 * Deletes records and counts older than the given time, in small commits, so that calls are not delayed for long.
 * Counts of quotas are deleted after 62 days instead, and counts of rules after at least 8 days.
 */
export async function forgetCalls(store: Store, olderThanMs: number): Promise<void> {
  // Ids begin with their time, so an id made for the cutoff time separates older records from newer ones.
  const before = createId('req', olderThanMs)
  await forgetCounts(store, olderThanMs)
  const now = store.clock.now()
  await forgetSubjects(store, 'quota_use', now - quotaPeriodsKeptMs)
  await forgetSubjects(store, 'rule_day', Math.min(olderThanMs, now - ruleDaysKeptMs))
  await store.transaction(async (tx) => await keyCallers.forgetOldSecretCallers(tx, olderThanMs))
  await dropOldPartitions(store, olderThanMs)
  let id = await calls.nextOrganization(store.calls, '')
  while (id !== undefined) {
    const organizationId = id
    let isMore = true
    while (isMore) {
      isMore = await store.forgetCalls({ organizationId, beforeId: before, limit: rowsInCommit })
      await nextTurn()
    }
    id = await calls.nextOrganization(store.calls, organizationId)
  }
}

/**
 * Drops the partitions whose records are all older than the given time, in two transactions at a time: PostgreSQL
 * spends most of the time on deleting files, after it has released the locks.
 */
export async function dropOldPartitions(store: Store, olderThanMs: number): Promise<void> {
  const dropAll = async (): Promise<void> => {
    let isDropped = true
    while (isDropped) {
      isDropped = await store.transactionOnCalls(
        async (tx) => await callPartitions.dropPartitions(tx, olderThanMs),
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

/**
 * Deletes counts of quotas or rules whose period began before a given time. The search uses `slowCallReads`, so that no
 * call waits for it.
 */
async function forgetSubjects(store: Store, table: CountsBySubject, before: number): Promise<void> {
  for (let found = rowsInRead; found === rowsInRead;) {
    const old = await oldCounts.findOld(store.slowCallReads, table, { before, limit: rowsInRead })
    for (let at = 0; at < old.length; at += rowsInCommit) {
      const part = old.slice(at, at + rowsInCommit)
      await store.transactionOnCalls(async (tx) => await oldCounts.remove(tx, table, part))
    }
    found = old.length
  }
}
