import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { makeFolder } from '../../folder.ts'
import {
  createTransaction,
  type Change,
  type Collected,
  type Db,
  type LedgerSettings,
  type Tx,
} from '../db/db.ts'
import { sealAfterMigration } from '../tables/audit/seals.ts'
import type { EngineHandle } from './engine.ts'
import { writeLedger } from './ledger.ts'
import { finishFile } from './restore.ts'
import { createCommitQueues } from './shared-commits.ts'
import { SqliteCallWriter } from './sqlite/call-writer.ts'
import { connectionOver, migrateFile, openFile, SqliteMainFile } from './sqlite-file.ts'
import { openAside } from './sqlite-slow-reads.ts'
import { SqliteWalWatch } from './sqlite/wal-watch.ts'

/** How often the feed asks for what others have committed, with the log watched and without. */
const pollMsWatched = 100
const pollMsUnwatched = 5

/**
 * SQLite in two files: the main one acknowledges only what is on disk (WAL, `synchronous=FULL`); call records sit in
 * a second one that may lose its last moments with the power (NORMAL). One connection writes, one reads.
 */
export async function openSqlite(
  folder: string,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  ledger: LedgerSettings,
): Promise<EngineHandle> {
  makeFolder(folder)
  const main = await SqliteMainFile.open({
    path: join(folder, 'intercept.db'),
    monotonic: () => clock.monotonic(),
    complete: async (at, applied) =>
      await sealAfterMigration(
        createTransaction({ ...at, ...ledger }, clock.now()).transaction,
        applied,
      ),
  })
  const callsFile = openFile(join(folder, 'calls.db'), 'NORMAL')
  await migrateFile(callsFile, 'sqlite-calls')

  const reader = connectionOver(main.reader)
  const writer = { ...connectionOver(main.writer), ...ledger }
  const calls = connectionOver(() => callsFile)
  const slowReads = openAside(join(folder, 'intercept.db'))
  const callsAside = openAside(join(folder, 'calls.db'))
  const commits = createCommitQueue(main.writer, writer, clock)
  const callCommits = createCommitQueue(() => callsFile, calls, clock)

  const callWriter = new SqliteCallWriter({
    path: join(folder, 'calls.db'),
    file: callsFile,
    others: callCommits,
  })
  let walWatch: SqliteWalWatch | undefined
  let hint: () => void = () => undefined

  function watchLog(): void {
    walWatch?.close()
    try {
      walWatch = new SqliteWalWatch(join(folder, 'intercept.db'), () => hint())
    } catch {
      // Not every file system can be watched: asking often costs little more than a percent of a core.
      walWatch = undefined
    }
  }

  const version = connectionOver(main.writer)
  const versionOf = async (): Promise<unknown> =>
    (await sql<{ data_version: number }>`pragma data_version`.execute(version.query)).rows[0]
      ?.data_version
  let lastVersion = await versionOf()
  let onOther: () => void = () => undefined

  const lane = { query: reader.query, transact: commits.transact }
  return {
    engine: 'sqlite',
    ...lane,
    // One writer, whose commits everybody shares: there is nothing to run beside it.
    background: lane,
    urgent: lane,
    calls,
    slowReads: slowReads.connection,
    slowCallReads: callsAside.connection,
    async transactCalls(work) {
      await callWriter.idle()
      return (await callCommits.transact(work)).result
    },
    insertCalls: async (rows) => await callWriter.write(rows),
    async hasForeignCommit() {
      if (await main.follow()) {
        await slowReads.restart()
        if (walWatch !== undefined) watchLog()
        onOther()
      }
      const now = await versionOf()
      if (now === lastVersion) return false
      lastVersion = now
      return true
    },
    get pollMs() {
      return walWatch === undefined ? pollMsUnwatched : pollMsWatched
    },
    listen(onHint) {
      hint = () => onHint(undefined)
      watchLog()
    },
    onOther: (call) => void (onOther = call),
    serverIdentity: () => sql`${main.identity}`,
    serverStart: () => sql`''`,
    async backup(file) {
      if (existsSync(file)) throw new Error(`${file} exists already; a backup overwrites nothing.`)
      const unfinished = `${file}.unfinished`
      // Made first, so that nobody else can read it while it grows.
      closeSync(openSync(unfinished, 'w', 0o600))
      try {
        await main.writer().backup(unfinished)
        finishFile(unfinished, file)
      } finally {
        rmSync(unfinished, { force: true })
      }
    },
    async close() {
      walWatch?.close()
      await commits.idle()
      await callCommits.idle()
      await callWriter.close()
      await slowReads.close()
      await callsAside.close()
      main.close()
      callsFile.close()
    },
  }
}

/**
 * One writer: all works are in one queue, so that one fsync serves those that wait at the same time, each in its own
 * savepoint.
 */
function createCommitQueue(
  live: () => Database.Database,
  writer: Db,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): {
  transact<T>(work: (tx: Tx) => Promise<T>): Promise<{ result: T; changes: Change[] }>
  idle(): Promise<void>
} {
  /** Runs works, then the ledger, then commits. */
  async function commit<T>(
    work: (tx: Tx, collected: Collected) => Promise<T>,
  ): Promise<{ result: T; changes: Change[] }> {
    const file = live()
    file.exec('begin immediate')
    try {
      const { transaction, collected } = createTransaction(writer, clock.now())
      const result = await work(transaction, collected)
      const changes = await writeLedger(transaction, collected)
      file.exec('commit')
      return { result, changes }
    } catch (error) {
      // A full disk and the like have ended it by themselves.
      if (file.inTransaction) file.exec('rollback')
      throw error
    }
  }

  const queues = createCommitQueues({
    alone: commit,
    isWorthAnotherTry: () => false,
    monotonic: () => clock.monotonic(),
    async shared(works) {
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
      })
      return done.changes
    },
  })
  return {
    transact: async (work) => await queues.commit('all', work),
    idle: async () => await queues.idle(),
  }
}
