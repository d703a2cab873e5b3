// Measures retention of call records on PostgreSQL: how long it takes to drop daily partitions, and how long commits
// take meanwhile.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { dropOldPartitions } from '../src/calls/index.ts'
import { createId, timeOfId, type OrganizationId } from '../src/ids.ts'
import { callPartitions, rowsOf, type CallRecord, type Store } from '../src/store/index.ts'
import { addressOf, days, keyOf, targetOf } from './calls-seed.ts'

const dayMs = 24 * 60 * 60_000
const maxDropMs = 1000
const giveUpMs = 60_000

/** Drops half of the days, and returns whether that was fast enough. On SQLite, does nothing and returns true. */
export async function measureRetention(
  store: Store,
  { now, organizationId }: { now: number; organizationId: OrganizationId },
): Promise<boolean> {
  if (store.engine !== 'postgres') return true
  const before = await sizeOfPartitions(store)
  const isCold = await evictPartitions(store)
  const begin = performance.now()
  let isDone = false
  const commits = commitUntil(store, organizationId, () => isDone)
  const olderThanMs = now - (days / 2) * dayMs
  const gone = untilDropped(store, olderThanMs)
  await dropOldPartitions(store, olderThanMs)
  const took = performance.now() - begin
  isDone = true
  const goneAfter = (await gone) - begin
  const times = (await commits).sort((a, b) => a - b)
  const after = await sizeOfPartitions(store)
  const rows = before.rows - after.rows
  const isMet = goneAfter <= maxDropMs * Math.max(1, rows / 10_000_000)
  console.log(
    `  retention drops ${before.partitions - after.partitions} days (${(rows / 1e6).toFixed(1)} million records${isCold ? ', not in memory' : ''}): no reader sees any of them after ${goneAfter.toFixed(0)} ms (bar: ${maxDropMs} for 10 million: ${isMet ? 'met' : 'MISSED'})`,
  )
  const gigabytes = (before.bytes - after.bytes) / 1e9
  const freed = gigabytes * msToFreeGigabyte()
  console.log(
    `  then PostgreSQL deletes their files, ${gigabytes.toFixed(1)} GB, and is done after ${took.toFixed(0)} ms; the file system alone takes about ${freed.toFixed(0)} ms to free so much in files of 64 MiB, one after the other${slowFileSystem()}`,
  )
  const middle = times[Math.floor(times.length / 2)] ?? 0
  console.log(
    `  beside it ${times.length} commits of 100 records, p50 ${middle.toFixed(1)} ms, the longest ${(times.at(-1) ?? 0).toFixed(1)} ms`,
  )
  return isMet
}

/** Returns the `performance.now()` at which another connection first sees none of the days before the given time. */
async function untilDropped(store: Store, olderThanMs: number): Promise<number> {
  const first = `call_d${new Date(olderThanMs).toISOString().slice(0, 10).replaceAll('-', '')}`
  for (const endsAt = performance.now() + giveUpMs; performance.now() < endsAt;) {
    const [oldest] = await callPartitions.listPartitions(store.slowCallReads)
    if (oldest === undefined || oldest >= first) return performance.now()
    await sleep(10)
  }
  throw new Error(`the days were not dropped within ${giveUpMs / 1000} s`)
}

/** `rows` is the estimate that `vacuum analyze` made. */
async function sizeOfPartitions(
  store: Store,
): Promise<{ readonly partitions: number; readonly bytes: number; readonly rows: number }> {
  const { rows } = await sql<{ partitions: number; bytes: number; rows: number }>`select
    count(*)::int as partitions, sum(pg_total_relation_size(oid))::bigint as bytes,
    sum(greatest(reltuples, 0))::bigint as rows
    from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'call'::regclass`.execute(store.calls.query)
  return rows[0] ?? { partitions: 0, bytes: 0, rows: 0 }
}

/**
 * Removes the partitions' files from the page cache, because old records are usually no longer cached and deleting
 * cached files takes longer. Returns false if this machine can't do that (it needs dd of GNU coreutils).
 */
async function evictPartitions(store: Store): Promise<boolean> {
  await sql`checkpoint`.execute(store.calls.query)
  const { rows } = await sql<{ path: string }>`select
    current_setting('data_directory') || '/' || pg_relation_filepath(part.relid) as path
    from (select inhrelid as relid from pg_inherits where inhparent = 'call'::regclass
      union all select indexrelid from pg_index join pg_inherits on indrelid = inhrelid
      where inhparent = 'call'::regclass) as part`.execute(store.calls.query)
  for (const { path } of rows) {
    for (let segment = 0; ; segment++) {
      const file = segment === 0 ? path : `${path}.${segment}`
      if (!existsSync(file)) break
      if (!evict(file)) return false
    }
  }
  return true
}

function evict(file: string): boolean {
  try {
    execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'])
    return true
  } catch {
    return false
  }
}

/**
 * Returns a remark for the output if the temporary folder's file system is mounted with `discard`, which makes deleting
 * files slow; otherwise ''.
 */
function slowFileSystem(): string {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').trimEnd().split('\n')
    const folder = realpathSync(tmpdir())
    const [, place = '', type = '', options = ''] = mounts
      .map((line) => line.split(' '))
      .filter(([, at = '']) => `${folder}/`.startsWith(at.endsWith('/') ? at : `${at}/`))
      .reduce((one, other) => ((other[1] ?? '') >= (one[1] ?? '') ? other : one), [])
    return options.split(',').includes('discard')
      ? `; ${place} is ${type} with \`discard\`, which tells the disk of every block as it is freed`
      : ''
  } catch {
    return ''
  }
}

function msToFreeGigabyte(): number {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-files-'))
  try {
    const content = randomBytes(64 * 2 ** 20)
    const files = Array.from({ length: 16 }, (_, at) => join(folder, String(at)))
    for (const file of files) {
      writeFileSync(file, content, { flush: true })
      evict(file)
    }
    const begin = performance.now()
    for (const file of files) truncateSync(file)
    return (performance.now() - begin) * (1e9 / (files.length * content.length))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Writes batches of 100 records, without their counts; returns how many milliseconds each batch took. */
async function commitUntil(
  store: Store,
  organizationId: OrganizationId,
  isDone: () => boolean,
): Promise<number[]> {
  const times: number[] = []
  while (!isDone()) {
    const records = Array.from({ length: 100 }, () => recordOf(organizationId))
    const begin = performance.now()
    await store.insertCalls(rowsOf(records), [])
    times.push(performance.now() - begin)
  }
  return times
}

function recordOf(organizationId: OrganizationId): CallRecord {
  const none = { refusal: undefined, stoppedAt: undefined, ruleId: undefined, capture: undefined }
  const caller = { organizationId, keyId: keyOf(7), targetId: targetOf(3), address: addressOf(3) }
  const sizes = { bytesIn: 100, bytesOut: 1000, durationUs: 900, upstreamUs: 700 }
  const request = { method: 'GET', path: '/api/v1/intercept/t3/retention', status: 200 }
  const id = createId('req')
  const more = { trialRuleId: undefined, agent: undefined }
  return { id, at: timeOfId(id), ...none, ...more, ...caller, ...sizes, ...request }
}
