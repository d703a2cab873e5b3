import { sql, type Expression, type RawBuilder } from 'kysely'
import type { Db } from './db.ts'

/** Selects a text member of the JSON object in a column; null if the object lacks it. */
export function jsonMember(
  { engine }: Pick<Db, 'engine'>,
  column: Expression<unknown>,
  name: string,
): RawBuilder<string | null> {
  const object = engine === 'postgres' ? sql`cast(${column} as jsonb)` : column
  return sql<string | null>`(${object} ->> cast(${name} as text))`
}
