import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from './db.ts'

/**
 * Restricts rows already found by id to one organization. The `+` stops SQLite from choosing another index and scanning
 * the whole organization (1,000,000 rows for a page of 100).
 */
export function besideIds(db: Db, organizationId: string): RawBuilder<SqlBool> {
  return db.engine === 'sqlite'
    ? sql<SqlBool>`+organization_id = ${organizationId}`
    : sql<SqlBool>`organization_id = ${organizationId}`
}
