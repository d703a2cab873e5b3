import { sql, type Expression, type RawBuilder } from 'kysely'
import type { Db } from './db.ts'

/** A text in a column that contains a JSON object; null where the object does not have it. */
export function jsonMember(
  { engine }: Pick<Db, 'engine'>,
  column: Expression<unknown>,
  name: string,
): RawBuilder<string | null> {
  const object = engine === 'postgres' ? sql`cast(${column} as jsonb)` : column
  return sql<string | null>`(${object} ->> cast(${name} as text))`
}
