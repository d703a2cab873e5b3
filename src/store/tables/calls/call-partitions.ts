import { sql } from 'kysely'
import { idBound } from '../../../ids.ts'
import { limitLocks } from '../../db/brief-locks.ts'
import type { Db, Tx } from '../../db/db.ts'
import { dayMs } from '../../../units.ts'

const daysAhead = 7
// Dropping a day's partition locks its table, its indexes and its TOAST table, and PostgreSQL can hold only a limited
// number of locks.
const daysInDrop = 8
// An arbitrary number for the advisory lock that keeps two nodes from creating or dropping partitions at once.
const lockKey = 7_203_311
const lockTimeout = '2s'

/**
 * On PostgreSQL, creates the partitions for today and the next seven days, except for days that already have rows in
 * the default partition. Returns how many were created.
 */
export async function makePartitions(tx: Tx): Promise<number> {
  if (tx.engine === 'sqlite') return 0
  const today = tx.now - (tx.now % dayMs)
  const wanted = Array.from({ length: daysAhead + 1 }, (_, day) => today + day * dayMs)
  // This is checked without the lock first, because there is almost never anything to do. The check reads only the
  // catalog: after reading the default partition, waiting for the lock could deadlock with its holder, which locks that
  // partition.
  const known = await listPartitions(tx)
  if (wanted.every((from) => known.includes(nameOf(from)))) return 0
  await takeLock(tx)
  let made = 0
  for (const from of await missingOf(tx, wanted)) {
    const name = nameOf(from)
    const [least, below] = [idBound('req', from), idBound('req', from + dayMs)]
    await sql`create table ${sql.table(name)} partition of call
      for values from (${sql.lit(least)}) to (${sql.lit(below)})`.execute(tx.query)
    made += 1
  }
  return made
}

/** Days that lack a partition and can still get one. */
async function missingOf(tx: Tx, days: readonly number[]): Promise<number[]> {
  const known = new Set(await listPartitions(tx))
  const missing: number[] = []
  for (const from of days) {
    if (!known.has(nameOf(from)) && !(await hasOthers(tx, from))) missing.push(from)
  }
  return missing
}

/**
 * Drops up to eight partitions, oldest first, whose records are all older than the given time; returns whether there
 * were any. One statement drops them all, so that calls wait for the lock on their table only once.
 */
export async function dropPartitions(tx: Tx, olderThanMs: number): Promise<boolean> {
  if (tx.engine === 'sqlite') return false
  // This is checked without the lock first, because there is almost never anything to do.
  if ((await expiredPartitions(tx, olderThanMs)).length === 0) return false
  await takeLock(tx)
  const expired = (await expiredPartitions(tx, olderThanMs)).slice(0, daysInDrop)
  if (expired.length === 0) return false
  await sql`drop table ${sql.join(expired.map((name) => sql.table(name)))}`.execute(tx.query)
  return true
}

async function expiredPartitions(tx: Tx, olderThanMs: number): Promise<string[]> {
  return (await listPartitions(tx)).filter((name) => dayOf(name) + dayMs <= olderThanMs)
}

/** The daily partitions, oldest first. */
export async function listPartitions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select child.relname as name
    from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'call'::regclass and child.relname like 'call\\_d%'
    order by child.relname`.execute(db.query)
  return rows.map(({ name }) => name)
}

// Creating or dropping a partition needs a lock behind which calls would queue. The transaction therefore must not
// stand still while it has the lock, and waits for locks no longer than `lockTimeout`; a later run tries again.
async function takeLock(tx: Tx): Promise<void> {
  await limitLocks(tx)
  await sql`select set_config('lock_timeout', ${lockTimeout}, true), pg_advisory_xact_lock(${sql.lit(lockKey)})`.execute(
    tx.query,
  )
}

async function hasOthers(tx: Tx, from: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select exists (select from call_other
    where id >= ${idBound('req', from)} and id < ${idBound('req', from + dayMs)}) as found`.execute(
    tx.query,
  )
  return rows[0]?.found === true
}

function nameOf(dayAt: number): string {
  return `call_d${new Date(dayAt).toISOString().slice(0, 10).replaceAll('-', '')}`
}

function dayOf(name: string): number {
  const [, year = '', month = '', day = ''] = /^call_d(\d{4})(\d{2})(\d{2})$/.exec(name) ?? []
  return Date.UTC(Number(year), Number(month) - 1, Number(day))
}
