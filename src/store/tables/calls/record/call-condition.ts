import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { OrganizationId } from '../../../../ids.ts'
import { contains } from '../../../db/contains.ts'
import type { Db } from '../../../db/db.ts'
import {
  idRangeOf,
  recordedPrefix,
  type CallFilter,
  type CallOutcome,
  type CallSlice,
} from './call-filter.ts'

/** The condition that an organization's calls must meet to match a filter, for PostgreSQL. */
export function callsThat(
  db: Db,
  organizationId: OrganizationId,
  filter: CallFilter & CallSlice,
): RawBuilder<SqlBool> {
  const all: RawBuilder<unknown>[] = [sql`organization_id = ${organizationId}`]
  const { words, statuses, from, to } = filter
  if (filter.id !== undefined) all.push(sql`id = ${filter.id}`)
  if (filter.keyId !== undefined) all.push(sql`key_id = ${filter.keyId}`)
  if (filter.targetId !== undefined) all.push(sql`target_id = ${filter.targetId}`)
  if (filter.stoppedAt !== undefined) all.push(sql`stopped_at = ${filter.stoppedAt}`)
  if (filter.outcome !== undefined) all.push(sql`(${outcomes[filter.outcome]})`)
  // The literal lets the database prove that the index of failed calls covers every match.
  if (statuses !== undefined && statuses[0] >= 500) all.push(sql`status >= 500`)
  // If the filter asks for all failed calls, that literal is the whole condition, so the index alone can answer a query
  // for ids.
  const isAllFailed = statuses !== undefined && statuses[0] === 500 && statuses[1] >= 600
  if (statuses !== undefined && !isAllFailed) {
    all.push(sql`status >= ${statuses[0]} and status < ${statuses[1]}`)
  }
  if (filter.method !== undefined) all.push(sql`method = ${filter.method}`)
  if (filter.path !== undefined) {
    // Paths are ASCII, so every path with this prefix sorts between the prefix and the prefix plus U+007F.
    all.push(sql`path >= ${filter.path} and path < ${`${filter.path}\u007f`}`)
  }
  if (words !== undefined) all.push(holdsWords(db, words))
  if (filter.address !== undefined) all.push(sql`address = ${filter.address}`)
  if (from !== undefined) all.push(sql`at >= ${from}`)
  if (to !== undefined) all.push(sql`at < ${to}`)
  if (filter.endedFrom !== undefined) all.push(sql`at + duration_us / 1000 >= ${filter.endedFrom}`)
  all.push(...idsIn(filter))
  return sql<SqlBool>`${sql.join(all, sql` and `)}`
}

function idsIn(selected: CallFilter & CallSlice): RawBuilder<unknown>[] {
  const { after, first, behind } = idRangeOf(selected)
  const all: RawBuilder<unknown>[] = []
  if (after !== undefined) all.push(sql`id > ${after}`)
  if (first !== undefined) all.push(sql`id >= ${first}`)
  if (behind !== undefined) all.push(sql`id < ${behind}`)
  return all
}

const outcomes: Readonly<Record<CallOutcome, RawBuilder<SqlBool>>> = {
  answered: sql<SqlBool>`stopped_at is null and status < 500`,
  upstream_error: sql<SqlBool>`stopped_at = 'forward' or (stopped_at is null and status >= 500)`,
  refused: sql<SqlBool>`stopped_at is not null and stopped_at <> 'forward'`,
}

function holdsWords(
  db: Db,
  { text, keyIds }: NonNullable<CallFilter['words']>,
): RawBuilder<unknown> {
  const inPath = contains(db, sql`substr(path, ${sql.lit(recordedPrefix.length + 1)})`, text)
  return keyIds.length === 0 ? inPath : sql`(${inPath} or key_id in (${sql.join(keyIds)}))`
}
