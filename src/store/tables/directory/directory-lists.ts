import { sql, type RawBuilder } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import {
  conditionSql,
  fieldSql,
  isAnchored,
  type DirectoryCondition,
  type DirectoryField,
  type DirectoryTableName,
} from './directory-conditions.ts'
import { bucketOf, bucketSize, countFrom, countsFrom } from './directory-counts.ts'

/** A sort order other than by creation; rows without the value come last, or first when descending. */
export interface DirectorySort {
  readonly field: DirectoryField
  readonly type: 'text' | 'number'
  readonly descending: boolean
}

/** A row's position in a sort order: the next page starts after it even if that row has been deleted. */
export interface DirectoryPlace {
  readonly rank: number
  readonly key: string | number
  readonly position: number
}

export interface DirectoryQuery {
  readonly condition: DirectoryCondition | undefined
  readonly sort: DirectorySort | undefined
}

/** Whether a query may have to examine or sort every row before it can return a page. */
export function readsAll(query: DirectoryQuery): boolean {
  if (query.condition !== undefined) return !isAnchored(query.condition)
  return query.sort !== undefined
}

/** Lists a page of ids with their places in the order, starting after a place or at an offset. */
export async function listPlaces(
  db: Db,
  {
    table,
    organizationId,
    query,
    page,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly query: DirectoryQuery
    readonly page: { after: DirectoryPlace | undefined; offset: number; limit: number }
  },
): Promise<{ id: string; place: DirectoryPlace }[]> {
  if (page.limit === 0) return []
  const isPlain = query.condition === undefined && query.sort === undefined
  if (isPlain && page.after === undefined && page.offset > 0) {
    return await jump(db, { table, organizationId, page })
  }
  const order = orderSql(db, table, query)
  const behind = page.after === undefined ? sql`` : sql` and ${order.behind(page.after)}`
  const { rows } = await sql<PlaceRow>`select ${sql.table(table)}.id as id, ${order.columns}
    from ${sql.table(table)} where ${whereSql(db, { table, organizationId, query })}${behind}
    order by ${order.by} limit ${page.limit} offset ${page.after === undefined ? page.offset : 0}`.execute(
    db.query,
  )
  return rows.map(placeFromRow)
}

/** Counts the matching resources, or only those after a place in the order. */
export async function countPlaces(
  db: Db,
  {
    table,
    organizationId,
    query,
    after,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly query: DirectoryQuery
    readonly after: DirectoryPlace | undefined
  },
): Promise<number> {
  if (query.condition === undefined && (after === undefined || query.sort === undefined)) {
    return await countPlain(db, { table, organizationId, after })
  }
  const behind = after === undefined ? sql`` : sql` and ${orderSql(db, table, query).behind(after)}`
  const { rows } = await sql<{ amount: number }>`select count(*) as amount from ${sql.table(table)}
    where ${whereSql(db, { table, organizationId, query })}${behind}`.execute(db.query)
  return rows[0]?.amount ?? 0
}

interface PlaceRow {
  id: string
  rank: number
  key: string | number
  position: number
}

function placeFromRow(row: PlaceRow): { id: string; place: DirectoryPlace } {
  return { id: row.id, place: { rank: row.rank, key: row.key, position: row.position } }
}

function whereSql(
  db: Db,
  {
    table,
    organizationId,
    query,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly query: DirectoryQuery
  },
): RawBuilder<unknown> {
  // The `+` keeps SQLite from using the index on the organization, and so from scanning all the organization's rows,
  // when the index on addresses finds the few that match.
  const mark = db.engine === 'sqlite' && findsByEmail(query.condition) ? sql`+` : sql``
  const own = sql`${mark}${sql.table(table)}.organization_id = ${organizationId}`
  return query.condition === undefined
    ? own
    : sql`${own} and (${conditionSql(db.engine, { table, organizationId, condition: query.condition })})`
}

function findsByEmail(condition: DirectoryCondition | undefined): boolean {
  if (condition?.kind === 'and') return condition.terms.some(findsByEmail)
  return condition?.kind === 'email'
}

interface Order {
  readonly columns: RawBuilder<unknown>
  readonly by: RawBuilder<unknown>
  behind(place: DirectoryPlace): RawBuilder<unknown>
}

function orderSql(db: Db, table: DirectoryTableName, query: DirectoryQuery): Order {
  const position = sql`${sql.table(table)}.position`
  const { sort } = query
  if (sort === undefined) {
    // The `+ 0` keeps the planner from using the index on positions when another index finds the few matching rows.
    const by = query.condition && isAnchored(query.condition) ? sql`${position} + 0` : position
    return {
      columns: sql`0 as rank, '' as key, ${position} as position`,
      by,
      behind: (place) => sql`${position} > ${place.position}`,
    }
  }
  const field = fieldSql(db.engine, table, sort.field)
  const empty = sort.type === 'number' ? sql.lit(0) : sql.lit('')
  const isNeverNull = 'column' in sort.field && sort.field.column !== 'external_id'
  const key = isNeverNull ? field : sql`coalesce(${field}, ${empty})`
  const rank = isNeverNull ? sql.lit(0) : sql`(case when ${field} is null then 1 else 0 end)`
  const way = sql.raw(sort.descending ? 'desc' : 'asc')
  const beyond = sql.raw(sort.descending ? '<' : '>')
  return {
    columns: sql`${rank} as rank, ${key} as key, ${position} as position`,
    by: isNeverNull
      ? sql`${key} ${way}, ${position} ${way}`
      : sql`${rank} ${way}, ${key} ${way}, ${position} ${way}`,
    behind: (place) =>
      isNeverNull
        ? sql`(${key}, ${position}) ${beyond} (${place.key}, ${place.position})`
        : sql`(${rank}, ${key}, ${position}) ${beyond} (${sql.lit(place.rank)}, ${place.key}, ${place.position})`,
  }
}

// Lists a page of the unfiltered list without reading all rows before it: the counts say in which bucket the page
// begins.
async function jump(
  db: Db,
  {
    table,
    organizationId,
    page,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly page: { offset: number; limit: number }
  },
): Promise<{ id: string; place: DirectoryPlace }[]> {
  let rest = page.offset
  for (const { bucket, amount } of await countsFrom(db, { table, organizationId, bucket: 0 })) {
    if (rest >= amount) {
      rest -= amount
      continue
    }
    const { rows } =
      await sql<PlaceRow>`select id, 0 as rank, '' as key, position from ${sql.table(table)}
      where organization_id = ${organizationId} and position >= ${bucket * bucketSize}
      order by position limit ${page.limit} offset ${rest}`.execute(db.query)
    return rows.map(placeFromRow)
  }
  return []
}

async function countPlain(
  db: Db,
  {
    table,
    organizationId,
    after,
  }: {
    readonly table: DirectoryTableName
    readonly organizationId: OrganizationId
    readonly after: DirectoryPlace | undefined
  },
): Promise<number> {
  if (after === undefined) return await countFrom(db, { table, organizationId, bucket: 0 })
  const bucket = bucketOf(after.position)
  const rest = sql<number>`(select count(*) from ${sql.table(table)}
    where organization_id = ${organizationId} and position > ${after.position}
    and position < ${(bucket + 1) * bucketSize})`
  return await countFrom(db, { table, organizationId, bucket: bucket + 1, more: rest })
}
