import type { Db, Tx } from '../../db/db.ts'
import type { DirectoryPlace } from './directory-lists.ts'
import { dayMs } from '../../../units.ts'

export interface DirectoryWalkTable {
  token_id: string
  query_digest: string
  next_index: number
  next_place: string
  previous_index: number | null
  previous_place: string | null
  at: number
}

/** Identifies a walk through pages: one token and one query. */
export interface WalkKey {
  readonly tokenId: string
  readonly queryDigest: string
}

const walksOfToken = 100
const keptMs = dayMs

/**
 * On the call-records database: the position after which the page at an index starts, if the walk has reached that
 * page.
 */
export async function find(
  db: Db,
  key: WalkKey,
  index: number,
): Promise<DirectoryPlace | undefined> {
  const row = await db.query
    .selectFrom('directory_walk')
    .select(['next_index', 'next_place', 'previous_index', 'previous_place'])
    .where('token_id', '=', key.tokenId)
    .where('query_digest', '=', key.queryDigest)
    .executeTakeFirst()
  if (row?.next_index === index) return JSON.parse(row.next_place) as DirectoryPlace
  // The previous page is requested again because its response was lost.
  if (row?.previous_index === index && row.previous_place !== null) {
    return JSON.parse(row.previous_place) as DirectoryPlace
  }
  return undefined
}

/** On the call-records database: records where a page started and ended; `from` is undefined for a first page. */
export async function note(
  tx: Tx,
  key: WalkKey,
  walk: {
    next: { index: number; place: DirectoryPlace }
    from: { index: number; place: DirectoryPlace } | undefined
  },
): Promise<void> {
  const values = {
    next_index: walk.next.index,
    next_place: JSON.stringify(walk.next.place),
    previous_index: walk.from?.index ?? null,
    previous_place: walk.from === undefined ? null : JSON.stringify(walk.from.place),
    at: tx.now,
  }
  await tx.query
    .insertInto('directory_walk')
    .values({ token_id: key.tokenId, query_digest: key.queryDigest, ...values })
    .onConflict((conflict) => conflict.columns(['token_id', 'query_digest']).doUpdateSet(values))
    .execute()
  if (walk.from === undefined) await forget(tx, key.tokenId)
}

/**
 * On the call-records database: deletes walks idle for a day, including those of revoked tokens and deleted
 * directories.
 */
export async function forgetOld(tx: Tx): Promise<void> {
  await tx.query
    .deleteFrom('directory_walk')
    .where('at', '<=', tx.now - keptMs)
    .execute()
}

// A token that keeps sending new queries retains only its last hundred walks.
async function forget(tx: Tx, tokenId: string): Promise<void> {
  const oldest = await tx.query
    .selectFrom('directory_walk')
    .select('at')
    .where('token_id', '=', tokenId)
    .orderBy('at', 'desc')
    .limit(1)
    .offset(walksOfToken)
    .executeTakeFirst()
  await tx.query
    .deleteFrom('directory_walk')
    .where('token_id', '=', tokenId)
    .where('at', '<=', Math.max(oldest?.at ?? 0, tx.now - keptMs))
    .execute()
}
