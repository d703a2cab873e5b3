import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from './db.ts'

/**
 * Restricts a query that finds rows by their ids to one organization. The `+` keeps SQLite from using the index on the
 * organization and scanning all rows of that organization.
 */
export function besideIds(db: Db, organizationId: string): RawBuilder<SqlBool> {
  return db.engine === 'sqlite'
    ? sql<SqlBool>`+organization_id = ${organizationId}`
    : sql<SqlBool>`organization_id = ${organizationId}`
}
