import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { chmodSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../../folder.ts'
import type { Db } from '../../db/db.ts'
import type { Tables } from '../../tables/index.ts'
import { migrate, migrationsFolder, type MigrationTarget } from '../migrate.ts'

const preparedStatements = 500
const busyTimeoutMs = 5000
// A file that is moved away stays open: whoever goes on with it must soon notice.
const lookAgainMs = 100

/** What migrations need beyond SQL, done in their transaction. */
export type CompleteMigration = (db: Db, applied: readonly string[]) => Promise<void>

interface MainFileOptions {
  readonly path: string
  readonly monotonic: () => number
  readonly complete: CompleteMigration
}

/** The main database: one connection writes, one reads. It is opened again when another file was put in its place. */
export class SqliteMainFile {
  readonly #path: string
  readonly #monotonic: () => number
  readonly #complete: CompleteMigration
  #writer: Database.Database
  #reader: Database.Database
  #identity: string
  #isAway = false
  #isOpening = false
  #lookedAt: number

  private constructor({ path, monotonic, complete }: MainFileOptions, opened: Opened) {
    this.#path = path
    this.#monotonic = monotonic
    this.#complete = complete
    this.#writer = opened.writer
    this.#reader = opened.reader
    this.#identity = opened.identity
    this.#lookedAt = monotonic()
  }

  static async open(options: MainFileOptions): Promise<SqliteMainFile> {
    return new SqliteMainFile(options, await openBoth(options))
  }

  /** Which file this is: no other one at this place has the same. */
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

  /** Looks whether another file has been put in its place, and opens that one; returns whether it did. */
  async follow(): Promise<boolean> {
    this.#look()
    if (!this.#isAway) return false
    // Another turn opens it, or somebody is in the middle of a work, which fails.
    if (this.#isOpening || this.#writer.inTransaction) throw new FileAwayError(this.#path)
    this.#isOpening = true
    try {
      const place = { path: this.#path, complete: this.#complete }
      const opened = await openBoth(place, true)
      this.close()
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

interface Opened {
  readonly writer: Database.Database
  readonly reader: Database.Database
  readonly identity: string
}

async function openBoth(
  { path, complete }: Pick<MainFileOptions, 'path' | 'complete'>,
  fileMustExist = false,
): Promise<Opened> {
  const writer = openFile(path, 'FULL', fileMustExist)
  try {
    const identity = identityOf(path)
    await migrateFile(writer, 'sqlite', complete)
    const reader = openFile(path, 'FULL', fileMustExist)
    reader.pragma('query_only = true')
    // A reader sorts what may be long: in files.
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

/** The file that is open is not the database any more; what it says may be old, and what it is told is lost. */
class FileAwayError extends Error {
  readonly code = 'SQLITE_CANTOPEN'

  constructor(path: string) {
    super(`${path} was moved away or replaced`)
    this.name = 'FileAwayError'
  }
}

/** Opens a file as all of ours are used. */
export function openFile(
  path: string,
  synchronous: 'FULL' | 'NORMAL',
  fileMustExist = false,
): Database.Database {
  makeFolder(dirname(path))
  const file = new Database(path, { timeout: busyTimeoutMs, fileMustExist })
  chmodSync(path, 0o600)
  file.pragma('journal_mode = WAL')
  // Said explicitly: the driver's build lowers it to NORMAL for WAL files.
  file.pragma(`synchronous = ${synchronous}`)
  file.pragma('foreign_keys = true')
  // Works that share a commit each have a savepoint; what it keeps to go back to must not go through temporary files.
  file.pragma('temp_store = memory')
  return file
}

/** Brings a file's schema up to date. */
export async function migrateFile(
  file: Database.Database,
  folder: string,
  complete?: CompleteMigration,
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
    complete: async (applied) =>
      await complete?.(
        connectionOver(() => file),
        applied,
      ),
  }
  // From here on only microtasks: another store of this process must not wait for the lock in between.
  await new Promise((resolve) => setImmediate(resolve))
  file.exec('begin immediate')
  try {
    await migrate(target, join(migrationsFolder, folder))
    file.exec('commit')
  } catch (error) {
    if (file.inTransaction) file.exec('rollback')
    throw error
  }
}

/** Kysely over a file, with prepared statements kept as long as the file is the same. */
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
  // The dialect needs no more of a Database than this.
  const dialect = new SqliteDialect({ database })
  return { query: new Kysely<Tables>({ dialect }), engine: 'sqlite' }
}
