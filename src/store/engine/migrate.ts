import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from '../../secrets/index.ts'

/** The operations a migration needs from an engine; everything runs in one transaction, under a lock. */
export interface MigrationTarget {
  execute(statement: string): Promise<void>
  /** Digests of the applied migrations, by name; creates the table if it does not exist. */
  applied(): Promise<ReadonlyMap<string, string>>
  record(name: string, digest: string): Promise<void>
  /**
   * Does the part of a migration that SQL can't express, in the same transaction, so that a crash leaves both or
   * neither.
   */
  complete?(applied: readonly string[]): Promise<void>
}

/** Contains one folder of `NNNN-name.sql` files per engine. */
export const migrationsFolder = join(import.meta.dirname, '..', 'migrations')

/**
 * Applies the pending migrations in numeric order. Throws if an applied file has changed since, or if the database
 * contains migrations that this version does not know.
 */
export async function migrate(target: MigrationTarget, folder: string): Promise<void> {
  const applied = await target.applied()
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const unknown = [...applied.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new Error(`the database was made by a newer Intercept (it has migration ${unknown})`)
  }
  const done: string[] = []
  for (const name of names) {
    const text = readFileSync(join(folder, name), 'utf8')
    const known = applied.get(name)
    if (known === undefined) {
      for (const statement of statementsOf(text)) await target.execute(statement)
      await target.record(name, digest(text))
      done.push(name)
    } else if (known !== digest(text)) {
      throw new Error(`migration ${name} is not the one that was applied to this database`)
    }
  }
  await target.complete?.(done)
}

/** Splits a file into statements at each `;` that ends a line. */
function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.replaceAll(/^\s*--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
}
