import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from './db.ts'

/** Whether a text column contains a text, ignoring case. Unlike LIKE, it gives no character a special meaning. */
export function contains(
  { engine }: Pick<Db, 'engine'>,
  column: Expression<unknown>,
  text: string,
): RawBuilder<SqlBool> {
  if (engine === 'postgres') {
    // Both sides are folded by the database, whose locale decides which letters have a lower case.
    return sql<SqlBool>`strpos(lower(${column}), lower(${text}::text)) > 0`
  }
  // SQLite's own function is faster, and knows ASCII only.
  const fold = sql.raw(/^[\u0000-\u007f]*$/.test(text) ? 'lower' : 'fold_case')
  return sql<SqlBool>`instr(${fold}(${column}), ${text.toLowerCase()}) > 0`
}
