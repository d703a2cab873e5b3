import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { createId, type OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'

/** What the call's record begins with before the path that people see. */
export const recordedPrefix = '/api/v1/intercept'

/** How a call ended: by the upstream, by a failure of the upstream, or refused by one of our checks. */
export type CallOutcome = 'answered' | 'upstream_error' | 'refused'

/** Which calls: all that is given must hold. */
export interface CallFilter {
  readonly id?: string | undefined
  readonly keyId?: string | undefined
  readonly targetId?: string | undefined
  readonly stoppedAt?: string | undefined
  readonly outcome?: CallOutcome | undefined
  /** At least, and below. */
  readonly statuses?: readonly [number, number] | undefined
  readonly method?: string | undefined
  /** What the path begins with. */
  readonly path?: string | undefined
  /** Found in the path behind the prefix, or a key of these. */
  readonly words?: { readonly text: string; readonly keyIds: readonly string[] } | undefined
  readonly address?: string | undefined
  /** Milliseconds since 1970, from (inclusive) and to (exclusive). */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Every condition of a filter as one, the organization's first. */
export function callsThat(
  db: Db,
  organizationId: OrganizationId,
  filter: CallFilter,
): RawBuilder<SqlBool> {
  const all: RawBuilder<unknown>[] = [sql`organization_id = ${organizationId}`]
  const { words, statuses, from, to } = filter
  if (filter.id !== undefined) all.push(sql`id = ${filter.id}`)
  if (filter.keyId !== undefined) all.push(sql`key_id = ${filter.keyId}`)
  if (filter.targetId !== undefined) all.push(sql`target_id = ${filter.targetId}`)
  if (filter.stoppedAt !== undefined) all.push(sql`stopped_at = ${filter.stoppedAt}`)
  if (filter.outcome !== undefined) all.push(sql`(${outcomes[filter.outcome]})`)
  // Said with a number of its own, so that both engines see that the index of failed calls holds them all.
  if (statuses !== undefined && statuses[0] >= 500) all.push(sql`status >= 500`)
  if (statuses !== undefined) all.push(sql`status >= ${statuses[0]} and status < ${statuses[1]}`)
  if (filter.method !== undefined) all.push(sql`method = ${filter.method}`)
  if (filter.path !== undefined) {
    // Paths are ASCII, so all that begin so lie between it and it with the last character behind.
    all.push(sql`path >= ${filter.path} and path < ${`${filter.path}\u007f`}`)
  }
  if (words !== undefined) all.push(holdsWords(db, words))
  if (filter.address !== undefined) all.push(sql`address = ${filter.address}`)
  if (from !== undefined) all.push(sql`at >= ${from} and id >= ${idBefore(from)}`)
  if (to !== undefined) all.push(sql`at < ${to} and id < ${idBehind(to)}`)
  return sql<SqlBool>`${sql.join(all, sql` and `)}`
}

/** SQL that tells the ways to end apart; everything else in it is ours. */
export const outcomes: Readonly<Record<CallOutcome, RawBuilder<SqlBool>>> = {
  answered: sql<SqlBool>`stopped_at is null and status < 500`,
  upstream_error: sql<SqlBool>`stopped_at = 'forward' or (stopped_at is null and status >= 500)`,
  refused: sql<SqlBool>`stopped_at is not null and stopped_at <> 'forward'`,
}

function holdsWords(
  db: Db,
  { text, keyIds }: NonNullable<CallFilter['words']>,
): RawBuilder<unknown> {
  const find = sql.raw(db.engine === 'postgres' ? 'strpos' : 'instr')
  const seen = sql`substr(path, ${sql.lit(recordedPrefix.length + 1)})`
  const inPath = sql`${find}(lower(${seen}), ${text.toLowerCase()}) > 0`
  return keyIds.length === 0 ? inPath : sql`(${inPath} or key_id in (${sql.join(keyIds)}))`
}

// An id is made when the call arrives, and `at` is reckoned back at its end: a clock that is put right in between parts them.
const clockMarginMs = 60_000

/** An id below those of calls that arrived at a time or later; lists are in the order of ids, so that this is where to begin. */
export function idBefore(at: number): string {
  return createId('req', Math.max(0, Math.floor(at) - clockMarginMs))
}

/** An id above those of calls that arrived before a time. */
function idBehind(at: number): string {
  return createId('req', Math.max(0, Math.ceil(at) + clockMarginMs))
}
