import { sql, type SelectQueryBuilder } from 'kysely'

/**
 * Orders secrets: first the current one, which has no end, then the others, newest first. The times of creation alone
 * are not enough, because a clock that was set back makes the newest secret look older.
 */
export function currentFirst<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> {
  return query
    .orderBy(sql`case when valid_until is null then 0 else 1 end`)
    .orderBy(sql.ref('created_at'), 'desc')
}
