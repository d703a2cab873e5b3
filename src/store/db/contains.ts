import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from './db.ts'

/** Whether a text column contains a text, ignoring case. Unlike LIKE, it gives no character a special meaning. */
export function contains(
  { engine }: Pick<Db, 'engine'>,
  column: Expression<unknown>,
  text: string,
): RawBuilder<SqlBool> {
  const position = sql.raw(engine === 'postgres' ? 'strpos' : 'instr')
  return sql<SqlBool>`${position}(lower(${column}), ${text.toLowerCase()}) > 0`
}
