import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from '../../secrets/index.ts'

/** The little that a migration needs of an engine; everything runs in one transaction, under a lock. */
export interface MigrationTarget {
  execute(statement: string): Promise<void>
  /** The digests of what was applied, by name; makes the table if it is not there. */
  applied(): Promise<ReadonlyMap<string, string>>
  record(name: string, digest: string): Promise<void>
  /** Does what a migration can't say in SQL, in the same transaction: a crash leaves both or neither. */
  complete?(applied: readonly string[]): Promise<void>
}

/** The folder with one folder of `NNNN-name.sql` files per engine. */
export const migrationsFolder = join(import.meta.dirname, '..', 'migrations')

/**
 * Applies what has not been applied yet, in the order of the numbers.
 * Throws if a file that was applied has changed since, or if the database knows migrations that we don't.
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
