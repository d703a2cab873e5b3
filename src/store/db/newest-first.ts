import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely'

/** A page of a list that is read from the newest id down. */
export interface NewestPage {
  /** Only ids below (older than) this one. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Restricts a query to one page, newest first; ids begin with their time, so their order is the order of creation. */
export function newestFirst<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { before, limit }: NewestPage,
): SelectQueryBuilder<DB, TB, O> {
  const page = query.orderBy(sql.ref('id'), 'desc').limit(limit)
  return before === undefined ? page : page.where(sql<SqlBool>`${sql.ref('id')} < ${before}`)
}
