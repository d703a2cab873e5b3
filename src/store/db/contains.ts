import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from './db.ts'

/**
 * Returns the SQL condition that a column contains a text, ignoring case. Unlike with LIKE, no character of the text
 * has a special meaning.
 */
export function contains(
  { engine }: Pick<Db, 'engine'>,
  column: Expression<unknown>,
  text: string,
): RawBuilder<SqlBool> {
  if (engine === 'postgres') {
    // The database lowercases both sides, because its locale decides which letters have a lower case.
    return sql<SqlBool>`strpos(lower(${column}), lower(${text}::text)) > 0`
  }
  // SQLite's own `lower` is faster but changes ASCII letters only.
  const fold = sql.raw(/^[\u0000-\u007f]*$/.test(text) ? 'lower' : 'fold_case')
  return sql<SqlBool>`instr(${fold}(${column}), ${text.toLowerCase()}) > 0`
}
