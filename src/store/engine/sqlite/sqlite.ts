import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../clock.ts'
import { finishFile, makeFolder } from '../../../files.ts'
import type { Change } from '../../db/changes.ts'
import { createTransaction } from '../../db/db.ts'
import type { Collected, Db, LedgerSettings, Tx } from '../../db/db.ts'
import {
  callBlocksMigration,
  moveCallsIntoBlocks,
} from '../../tables/calls/blocks/call-blocks-upgrade.ts'
import { sealAfterMigration } from '../../tables/audit/seals.ts'
import type { EngineHandle, EngineLane } from '../engine.ts'
import { writeLedger } from '../ledger.ts'
import { CommitQueues } from '../shared-commits.ts'
import { SqliteCallWriter } from './call-writer.ts'
import { ForeignCommits } from './foreign-commits.ts'
import { connectionOver, migrateFile, openFile, SqliteMainFile } from './file.ts'
import { openSlowReads } from './slow-reads.ts'

/**
 * Opens SQLite in two files. A commit in the main file is acknowledged when it is on disk, except for data that may be
 * lost. The file with call records may lose its last moments in a power failure.
 */
export async function openSqlite(
  folder: string,
  { clock, ledger, mayUpgrade }: SqliteDeps,
): Promise<EngineHandle> {
  makeFolder(folder)
  const path = join(folder, 'intercept.db')
  const main = await SqliteMainFile.open({
    path,
    monotonic: () => clock.monotonic(),
    mayUpgrade,
    complete: async (db, applied) => {
      const tx = createTransaction({ ...db, ...ledger }, clock.now()).transaction
      await sealAfterMigration(tx, applied)
    },
  })
  const calls = await openCalls(join(folder, 'calls.db'), { clock, mayUpgrade })
  const slowReads = openSlowReads(path)
  const writer = { ...connectionOver(main.writer), ...ledger }
  const commits = createCommitQueue({
    live: main.writer,
    writer,
    clock,
    alone: async (work) => await work(),
  })
  const foreignCommits = new ForeignCommits(path, main.writer)
  let onOther: () => void = () => undefined

  return {
    engine: 'sqlite',
    ...lanesOver(main, commits),
    ...calls.handle,
    slowReads: slowReads.connection,
    async hasForeignCommit() {
      if (await main.follow()) {
        await slowReads.restart()
        foreignCommits.follow()
        onOther()
      }
      return foreignCommits.look()
    },
    get pace() {
      return foreignCommits.pace
    },
    listen: (onHint) => foreignCommits.listen(() => onHint(undefined)),
    onOther: (call) => void (onOther = call),
    serverIdentity: () => sql`${main.identity}`,
    serverStart: () => sql`''`,
    backup: async (file) => await backUp(main.writer(), file),
    async close() {
      foreignCommits.close()
      await commits.idle()
      await slowReads.close()
      main.close()
      await calls.close()
    },
  }
}

interface SqliteDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly ledger: LedgerSettings
  readonly mayUpgrade: boolean
}

async function openCalls(path: string, { clock, mayUpgrade }: Omit<SqliteDeps, 'ledger'>) {
  const file = openFile(path, 'NORMAL')
  await migrateFile(file, {
    database: 'sqlite-calls',
    mayUpgrade,
    complete: async (db, applied) => {
      if (applied.includes(callBlocksMigration)) await moveCallsIntoBlocks(db)
    },
  })
  const calls = connectionOver(() => file)
  const slowReads = openSlowReads(path)
  const writer = new SqliteCallWriter(path, file)
  const commits = createCommitQueue({
    live: () => file,
    writer: calls,
    clock,
    alone: async (work) => await writer.alone(work),
  })
  const handle: Pick<
    EngineHandle,
    'calls' | 'slowCallReads' | 'transactCalls' | 'insertCalls' | 'mergeCalls' | 'forgetCalls'
  > = {
    calls,
    slowCallReads: slowReads.connection,
    transactCalls: async (work) => (await commits.transact(work)).result,
    insertCalls: async (rows, counts) =>
      await writer.write({ parts: rows.parts, counts }, rows.count),
    mergeCalls: async (olderThanMs) => await writer.merge(olderThanMs),
    forgetCalls: async (old) => await writer.forget(old),
  }
  return {
    handle,
    async close() {
      await commits.idle()
      await writer.close()
      await slowReads.close()
      file.close()
    },
  }
}

async function backUp(from: Database.Database, file: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} exists already; a backup overwrites nothing.`)
  const unfinished = `${file}.unfinished`
  // The file is created first, with tight permissions, so that nobody else can read it while it grows.
  closeSync(openSync(unfinished, 'w', 0o600))
  try {
    await from.backup(unfinished)
    finishFile(unfinished, file)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** There is one writer, and its commits are shared: separate lanes would only wait for it. */
function lanesOver(
  main: SqliteMainFile,
  commits: ReturnType<typeof createCommitQueue>,
): Pick<EngineHandle, 'query' | 'transact' | 'background' | 'urgent' | 'mayBeLost'> {
  const { query } = connectionOver(main.reader)
  const lane: EngineLane = { query, transact: async (work) => await commits.transact(work) }
  const mayBeLost: EngineLane = {
    query,
    transact: async (work) => await commits.transact(work, true),
  }
  return {
    ...lane,
    background: {
      ...lane,
      autocommit: async (work) => (await mayBeLost.transact(work)).result,
    },
    urgent: lane,
    mayBeLost,
  }
}

/** A file into which this process commits. */
interface CommitFile {
  readonly live: () => Database.Database
  readonly writer: Db
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Does the work of a commit while nothing else writes to the file. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
}

/** Returns a function that does work in one commit. */
function createCommit({ live, writer, clock, alone }: CommitFile) {
  async function commit<T>(
    work: (tx: Tx, collected: Collected) => Promise<T>,
    mayBeLost: boolean,
  ): Promise<{ result: T; changes: Change[] }> {
    const file = live()
    // Such a commit does not wait for the disk, but the next durable commit flushes it too.
    if (mayBeLost) file.pragma('synchronous = NORMAL')
    file.exec('begin immediate')
    try {
      const { transaction, collected } = createTransaction(writer, clock.now())
      const result = await work(transaction, collected)
      const changes = await writeLedger(transaction, collected)
      file.exec('commit')
      return { result, changes }
    } catch (error) {
      // A full disk and similar errors have already ended the transaction.
      if (file.inTransaction) file.exec('rollback')
      throw error
    } finally {
      if (mayBeLost) file.pragma('synchronous = FULL')
    }
  }

  return async <T>(
    work: (tx: Tx, collected: Collected) => Promise<T>,
    mayBeLost = false,
  ): Promise<{ result: T; changes: Change[] }> =>
    await alone(async () => await commit(work, mayBeLost))
}

/** Creates the one queue for all jobs of a file, because a file has only one writer at a time. */
function createCommitQueue(given: CommitFile): {
  transact<T>(
    work: (tx: Tx) => Promise<T>,
    mayBeLost?: boolean,
  ): Promise<{ result: T; changes: Change[] }>
  idle(): Promise<void>
} {
  const { live, clock } = given
  const commit = createCommit(given)
  const queues = new CommitQueues({
    alone: commit,
    isWorthAnotherTry: () => false,
    monotonic: () => clock.monotonic(),
    async shared(works, mayBeLost) {
      const done = await commit(async (transaction, collected) => {
        let isMarked = false
        await works({
          transaction,
          collected,
          async mark() {
            live().exec(isMarked ? 'release work; savepoint work' : 'savepoint work')
            isMarked = true
          },
          goBack: async () => void live().exec('rollback to work'),
        })
      }, mayBeLost)
      return done.changes
    },
  })
  return {
    transact: async (work, mayBeLost) => await queues.commit('all', work, mayBeLost),
    idle: async () => await queues.idle(),
  }
}
