import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { chmodSync, closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { makeFolder } from '../../folder.ts'
import {
  createTransaction,
  type Change,
  type Collected,
  type Connection,
  type LedgerSettings,
  type Transaction,
} from '../db/db.ts'
import type { EngineHandle } from './engine.ts'
import { writeLedger } from './ledger.ts'
import { migrate, migrationsFolder, type MigrationTarget } from './migrate.ts'
import { finishFile } from './restore.ts'
import { createCommitLines } from './shared-commits.ts'
import { openAside } from './sqlite-slow-reads.ts'
import type { Tables } from '../tables/index.ts'

const preparedStatements = 500
const busyTimeoutMs = 5000

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
  const writerFile = openFile(join(folder, 'intercept.db'), 'FULL')
  const callsFile = openFile(join(folder, 'calls.db'), 'NORMAL')
  const migrated = await migrateFile(writerFile, 'sqlite')
  await migrateFile(callsFile, 'sqlite-calls')
  const readerFile = openFile(join(folder, 'intercept.db'), 'FULL')
  readerFile.pragma('query_only = true')
  // A reader sorts what may be long: in files.
  readerFile.pragma('temp_store = default')

  const reader = connectionOver(readerFile)
  const writer = { ...connectionOver(writerFile), ...ledger }
  const calls = connectionOver(callsFile)
  const aside = openAside(join(folder, 'intercept.db'))
  const callsAside = openAside(join(folder, 'calls.db'))
  const commits = createCommitQueue(writerFile, writer, clock)
  const callCommits = createCommitQueue(callsFile, calls, clock)

  const versionStatement = writerFile.prepare('pragma data_version').pluck()
  let lastVersion = versionStatement.get()

  const lane = { query: reader.query, transact: commits.transact }
  return {
    engine: 'sqlite',
    migrated,
    ...lane,
    // One writer, whose commits everybody shares: there is nothing to keep apart.
    apart: lane,
    urgent: lane,
    calls,
    aside: aside.connection,
    slowCallReads: callsAside.connection,
    transactCalls: async (work) => (await callCommits.transact(work)).result,
    async hasForeignCommit() {
      const version = versionStatement.get()
      if (version === lastVersion) return false
      lastVersion = version
      return true
    },
    listen: () => undefined,
    onOther: () => undefined,
    serverIdentity: () => sql`'sqlite'`,
    serverStart: () => sql`''`,
    async backup(file) {
      if (existsSync(file)) throw new Error(`${file} exists already; a backup overwrites nothing.`)
      const unfinished = `${file}.unfinished`
      // Made first, so that nobody else can read it while it grows.
      closeSync(openSync(unfinished, 'w', 0o600))
      try {
        await writerFile.backup(unfinished)
        finishFile(unfinished, file)
      } finally {
        rmSync(unfinished, { force: true })
      }
    },
    async close() {
      await commits.idle()
      await callCommits.idle()
      await aside.close()
      await callsAside.close()
      for (const file of [readerFile, writerFile, callsFile]) file.close()
    },
  }
}

function openFile(path: string, synchronous: 'FULL' | 'NORMAL'): Database.Database {
  makeFolder(dirname(path))
  const file = new Database(path, { timeout: busyTimeoutMs })
  chmodSync(path, 0o600)
  file.pragma('journal_mode = WAL')
  // Said explicitly: the driver's build lowers it to NORMAL for WAL files.
  file.pragma(`synchronous = ${synchronous}`)
  file.pragma('foreign_keys = true')
  // Works that share a commit each have a savepoint; what it keeps to go back to must not go through temporary files.
  file.pragma('temp_store = memory')
  return file
}

async function migrateFile(file: Database.Database, folder: string): Promise<readonly string[]> {
  const target: MigrationTarget = {
    execute: async (statement) => void file.exec(statement),
    async applied() {
      file.exec(
        'create table if not exists migration (name text primary key, digest text not null) strict',
      )
      const rows = file.prepare('select name, digest from migration').all() as {
        name: string
        digest: string
      }[]
      return new Map(rows.map((row) => [row.name, row.digest]))
    },
    record: async (name, digest) =>
      void file.prepare('insert into migration (name, digest) values (?, ?)').run(name, digest),
  }
  // From here on only microtasks: another store of this process must not wait for the lock in between.
  await new Promise((resolve) => setImmediate(resolve))
  file.exec('begin immediate')
  try {
    const done = await migrate(target, join(migrationsFolder, folder))
    file.exec('commit')
    return done
  } catch (error) {
    if (file.inTransaction) file.exec('rollback')
    throw error
  }
}

/** Kysely over a file, with prepared statements kept. */
function connectionOver(file: Database.Database): Connection {
  const statements = new Map<string, Database.Statement>()
  const database = {
    prepare(text: string) {
      let statement = statements.get(text)
      if (!statement) {
        statement = file.prepare(text)
        if (statements.size >= preparedStatements) {
          const [oldest] = statements.keys()
          if (oldest !== undefined) statements.delete(oldest)
        }
        statements.set(text, statement)
      }
      return statement
    },
    close() {},
  }
  // The dialect needs no more of a Database than this.
  const dialect = new SqliteDialect({ database })
  return { query: new Kysely<Tables>({ dialect }), engine: 'sqlite' }
}

/**
 * One writer: all works are in one line, so that one fsync serves those that wait at the same time, each in its own
 * savepoint.
 */
function createCommitQueue(
  file: Database.Database,
  writer: Connection,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): {
  transact<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T; changes: Change[] }>
  idle(): Promise<void>
} {
  /** Runs works, then the ledger, then commits. */
  async function commit<T>(
    work: (tx: Transaction, collected: Collected) => Promise<T>,
  ): Promise<{ result: T; changes: Change[] }> {
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

  const lines = createCommitLines({
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
            file.exec(isMarked ? 'release work; savepoint work' : 'savepoint work')
            isMarked = true
          },
          goBack: async () => void file.exec('rollback to work'),
        })
      })
      return done.changes
    },
  })
  return {
    transact: async (work) => await lines.commit('all', work),
    idle: async () => await lines.idle(),
  }
}
