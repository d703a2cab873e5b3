import Database from 'better-sqlite3'
import { Kysely } from 'kysely'
import { chmodSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../../files.ts'
import type { Db } from '../../db/db.ts'
import type { Tables } from '../../tables/index.ts'
import { nextTurn } from '../../../timers.ts'
import { migrate, type Database as Migrated, type MigrationTarget } from '../migrate.ts'
import { addBlockFunctions } from './block-functions.ts'
import { PlannedOnceDialect } from './dialect.ts'
import { addFoldCase } from './fold-case.ts'
import { boundPageCache } from './page-cache.ts'

const preparedStatements = 500
/** Milliseconds for which a statement waits for another connection's lock. */
export const busyTimeoutMs = 5000
// Milliseconds after which the store checks again whether the database's path still leads to the open file. A file that
// was moved away stays open and usable.
const lookAgainMs = 100

/** The part of a migration that SQL can't express, run in its transaction. */
export type CompleteMigration = (db: Db, applied: readonly string[]) => Promise<void>

interface MainFileOptions {
  readonly path: string
  readonly monotonic: () => number
  readonly complete: CompleteMigration
  readonly mayUpgrade: boolean
}

/**
 * The main database, with one connection for writes and one for reads. Both are reopened when another file takes its
 * place.
 */
export class SqliteMainFile {
  readonly #path: string
  readonly #monotonic: () => number
  readonly #place: Place
  #writer: Database.Database
  #reader: Database.Database
  #identity: string
  #isAway = false
  #isOpening = false
  #isClosed = false
  #lookedAt: number

  private constructor({ monotonic, ...place }: MainFileOptions, opened: Opened) {
    this.#path = place.path
    this.#monotonic = monotonic
    this.#place = place
    this.#writer = opened.writer
    this.#reader = opened.reader
    this.#identity = opened.identity
    this.#lookedAt = monotonic()
  }

  static async open(options: MainFileOptions): Promise<SqliteMainFile> {
    return new SqliteMainFile(options, await openBoth(options))
  }

  /** Identifies the open file; no other file at this path has the same value. */
  get identity(): string {
    return this.#identity
  }

  writer = (): Database.Database => {
    this.#check()
    return this.#writer
  }

  reader = (): Database.Database => {
    this.#check()
    return this.#reader
  }

  /** Checks whether another file has replaced this one and, if so, opens that file; returns whether it opened one. */
  async follow(): Promise<boolean> {
    this.#look()
    if (!this.#isAway) return false
    // The store is closed, the file is already being reopened, or a transaction is open on the old file and must fail.
    if (this.#isClosed || this.#isOpening || this.#writer.inTransaction)
      throw new FileAwayError(this.#path)
    this.#isOpening = true
    try {
      const opened = await openBoth(this.#place, true)
      this.#closeFiles()
      this.#writer = opened.writer
      this.#reader = opened.reader
      this.#identity = opened.identity
      this.#look()
      return true
    } finally {
      this.#isOpening = false
    }
  }

  close(): void {
    this.#isClosed = true
    this.#closeFiles()
  }

  #closeFiles(): void {
    this.#reader.close()
    this.#writer.close()
  }

  #check(): void {
    if (this.#monotonic() - this.#lookedAt > lookAgainMs) this.#look()
    if (this.#isAway) throw new FileAwayError(this.#path)
  }

  #look(): void {
    this.#lookedAt = this.#monotonic()
    this.#isAway = identityOf(this.#path) !== this.#identity
  }
}

type Place = Omit<MainFileOptions, 'monotonic'>

interface Opened {
  readonly writer: Database.Database
  readonly reader: Database.Database
  readonly identity: string
}

async function openBoth(
  { path, complete, mayUpgrade }: Place,
  fileMustExist = false,
): Promise<Opened> {
  const writer = openFile(path, 'FULL', fileMustExist)
  try {
    const identity = identityOf(path)
    await migrateFile(writer, { database: 'sqlite', complete, mayUpgrade })
    const reader = openFile(path, 'FULL', fileMustExist)
    reader.pragma('query_only = true')
    // The reader may sort large results, so its temporary storage goes to files.
    reader.pragma('temp_store = default')
    if (identity === undefined || identityOf(path) !== identity) throw new FileAwayError(path)
    return { writer, reader, identity }
  } catch (error) {
    writer.close()
    throw error
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}:${Math.round(found.birthtimeMs)}`
}

/** Thrown when the open file is no longer the database: reads may be stale and writes would be lost. */
class FileAwayError extends Error {
  readonly code = 'SQLITE_CANTOPEN'

  constructor(path: string) {
    super(`${path} was moved away or replaced`)
    this.name = 'FileAwayError'
  }
}

/** Opens a file with the settings that all our files use. */
export function openFile(
  path: string,
  synchronous: 'FULL' | 'NORMAL',
  fileMustExist = false,
): Database.Database {
  // With `fileMustExist`, neither the database nor its folder is created anew if somebody has removed them.
  if (!fileMustExist) makeFolder(dirname(path))
  const file = new Database(path, { timeout: busyTimeoutMs, fileMustExist })
  chmodSync(path, 0o600)
  file.pragma('journal_mode = WAL')
  // This is set explicitly, because the driver's build lowers it to NORMAL for WAL files.
  file.pragma(`synchronous = ${synchronous}`)
  file.pragma('foreign_keys = true')
  // Jobs that share a commit use savepoints, whose journals would otherwise be temporary files.
  file.pragma('temp_store = memory')
  boundPageCache(file, 'lasting')
  addFoldCase(file)
  addBlockFunctions(file)
  return file
}

/** Applies a file's pending migrations in one transaction. */
export async function migrateFile(
  file: Database.Database,
  {
    database,
    complete,
    mayUpgrade,
  }: {
    readonly database: Migrated
    readonly complete?: CompleteMigration
    readonly mayUpgrade: boolean
  },
): Promise<void> {
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
    forgetAll: async () => void file.exec('delete from migration'),
    complete: async (applied) =>
      await complete?.(
        connectionOver(() => file),
        applied,
      ),
  }
  // Lets other work run first. Nothing below may yield to the event loop, because another store in this process could
  // then run into the lock.
  await nextTurn()
  file.exec('begin immediate')
  try {
    await migrate(target, database, mayUpgrade)
    file.exec('commit')
  } catch (error) {
    if (file.inTransaction) file.exec('rollback')
    throw error
  }
}

/**
 * Returns queries over the file that `live` returns. Up to 500 prepared statements are kept until `live` returns
 * another file.
 */
export function connectionOver(live: () => Database.Database): Db {
  const statements = new Map<string, Database.Statement>()
  let preparedBy: Database.Database | undefined
  const database = {
    prepare(text: string) {
      const file = live()
      if (file !== preparedBy) statements.clear()
      preparedBy = file
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
  // The dialect uses only these members of a Database.
  const dialect = new PlannedOnceDialect({ database })
  return { query: new Kysely<Tables>({ dialect }), engine: 'sqlite' }
}
