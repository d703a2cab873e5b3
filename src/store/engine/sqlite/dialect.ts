import { SqliteDialect, SqliteQueryCompiler, type QueryCompiler } from 'kysely'

/** Kysely's dialect for SQLite, with statements that are planned once and not for each execution. */
export class PlannedOnceDialect extends SqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new PlannedOnceCompiler()
  }
}

/**
 * Writes each parameter as `+?`. If the best plan might depend on the value of a parameter, such as a limit or what a
 * join's column is compared with, SQLite plans the statement anew for each execution, which takes longer than most
 * executions (https://sqlite.org/c3ref/prepare.html). It does not look for values inside expressions, and this plus changes
 * neither value nor affinity. A value with which a partial index's condition compares must be a literal (`sql.lit`).
 */
export class PlannedOnceCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?'
  }
}
