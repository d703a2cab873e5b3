import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { digest } from '../../secrets/index.ts'

/** The operations a migration needs from an engine; everything runs in one transaction, under a lock. */
export interface MigrationTarget {
  execute(statement: string): Promise<void>
  /** Digests of the applied migrations, by name; creates the table that lists them if it does not exist. */
  applied(): Promise<ReadonlyMap<string, string>>
  record(name: string, digest: string): Promise<void>
  /** Forgets every applied migration, so that the files that replaced them can be recorded. */
  forgetAll(): Promise<void>
  /**
   * Does the part of a migration that SQL can't express, in the same transaction, so that a crash undoes both parts.
   */
  complete?(applied: readonly string[]): Promise<void>
}

const migrationsFolder = join(import.meta.dirname, '..', 'migrations')

export type Database = 'postgres' | 'sqlite' | 'sqlite-calls'

/** The files in `both` use PostgreSQL's type names, two of which are replaced on SQLite. */
const foldersOf: Readonly<Record<Database, readonly string[]>> = {
  postgres: ['postgres', 'both'],
  sqlite: ['sqlite', 'both'],
  'sqlite-calls': ['sqlite-calls'],
}

/** Lists the paths of a database's migrations, in the order in which they are applied. */
export function migrationFiles(database: Database): readonly string[] {
  const paths = foldersOf[database].flatMap((folder) =>
    readdirSync(join(migrationsFolder, folder))
      .filter((name) => name.endsWith('.sql'))
      .map((name) => join(migrationsFolder, folder, name)),
  )
  return paths.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))
}

/**
 * Digests of each database's list of migrations before 0.1.0. A database that has applied exactly such a list needs
 * none of the files up to 0007 (0001 for calls): they create the same schema.
 */
const formerLists: Readonly<Record<Database, string>> = {
  postgres: 'bce2d591392f5ad8c816dc65e280fe9cb071b0b83b6e8f9c40b61b2f7f9ad555',
  sqlite: '7fb26ad0ccc439952cca37923280096198ce4bd3f48c0c155cbe7f2e9e382972',
  'sqlite-calls': '06997a3c0e20b35b0ba737c89dede2681546a2cf93b910e53218291be96059dd',
}

/** Thrown when an existing database lacks migrations and its opener may not apply them. */
export class SchemaBehind extends Error {
  constructor() {
    super(
      'The database has the schema of an earlier version of Intercept. Once it is upgraded, nodes of that version can no longer start. Back up with that version, then start a node of this one or run `intercept migrate`.',
    )
    this.name = 'SchemaBehind'
  }
}

/**
 * Applies the pending migrations in numeric order. Throws if an applied file has changed since, or if the database has
 * migrations that this version does not know. Throws `SchemaBehind` if `mayUpgrade` is false and a database that is not
 * empty lacks migrations.
 */
export async function migrate(
  target: MigrationTarget,
  database: Database,
  mayUpgrade: boolean,
): Promise<void> {
  const files = migrationFiles(database).map((path) => ({
    name: basename(path),
    text: readFileSync(path, 'utf8'),
  }))
  const applied = await appliedNow(target, { database, files, mayUpgrade })
  const known = new Set(files.map(({ name }) => name))
  const unknown = [...applied.keys()].find((name) => !known.has(name))
  if (unknown !== undefined) throw new Error(refusalOf(unknown))
  const isComplete = files.every(({ name }) => applied.has(name))
  if (!mayUpgrade && applied.size > 0 && !isComplete) throw new SchemaBehind()
  const done: string[] = []
  for (const { name, text } of files) {
    const before = applied.get(name)
    if (before === undefined) {
      for (const statement of statementsOf(text, database)) await target.execute(statement)
      await target.record(name, digest(text))
      done.push(name)
    } else if (before !== digest(text)) {
      throw new Error(`migration ${name} is not the one that was applied to this database`)
    }
  }
  await target.complete?.(done)
}

interface MigrationFile {
  readonly name: string
  readonly text: string
}

/**
 * Returns the applied migrations. If they are a list from before 0.1.0, first records the files that replaced that
 * list.
 */
async function appliedNow(
  target: MigrationTarget,
  of: { database: Database; files: readonly MigrationFile[]; mayUpgrade: boolean },
): Promise<ReadonlyMap<string, string>> {
  const applied = await target.applied()
  const list = [...applied].sort(([a], [b]) => (a < b ? -1 : 1))
  const listed = list.map((entry) => entry.join(' ')).join('\n')
  if (digest(listed) !== formerLists[of.database]) return applied
  if (!of.mayUpgrade) throw new SchemaBehind()
  const start = of.files.filter(({ name }) => name < endOfStart)
  await target.forgetAll()
  for (const { name, text } of start) await target.record(name, digest(text))
  return new Map(start.map(({ name, text }) => [name, digest(text)]))
}

// The files that replaced the former lists end with 0007, and later files begin with 0018. The former lists used the
// numbers in between, so no file may ever use those numbers.
const endOfStart = '0008'
const firstSinceFormer = '0018'

function refusalOf(unknown: string): string {
  return unknown < firstSinceFormer
    ? `the database was made before version 0.1.0 and not brought up to date since (it has migration ${unknown})`
    : `the database was made by a newer Intercept (it has migration ${unknown})`
}

/** Splits a file into the statements that a database executes, at each `;` that ends a line. */
export function statementsOf(text: string, database: Database): string[] {
  const understood = database === 'postgres' ? text : inSqlite(text)
  return understood
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.replaceAll(/^\s*--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
}

/** Replaces PostgreSQL's type names with SQLite's, because SQLite's strict tables accept no others. */
function inSqlite(text: string): string {
  return text.replaceAll(/\bbigint\b/gi, 'integer').replaceAll(/\bbytea\b/gi, 'blob')
}
