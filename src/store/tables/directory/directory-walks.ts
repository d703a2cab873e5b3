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

/** Identifies a walk through the pages of a list: one token and one query. */
export interface WalkKey {
  readonly tokenId: string
  readonly queryDigest: string
}

const walksOfToken = 100
const keptMs = dayMs

/**
 * Finds the place after which the page at an index starts; undefined unless it is the walk's next page or the page
 * before that. Like all functions here, it needs the database that holds call records.
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
  // A client that lost the response requests the previous page again.
  if (row?.previous_index === index && row.previous_place !== null) {
    return JSON.parse(row.previous_place) as DirectoryPlace
  }
  return undefined
}

/** Records where the next page starts, and where this one started; `from` is undefined for a first page. */
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

/** Deletes walks that have been idle for a day, including those of revoked tokens and deleted directories. */
export async function forgetOld(tx: Tx): Promise<void> {
  await tx.query
    .deleteFrom('directory_walk')
    .where('at', '<=', tx.now - keptMs)
    .execute()
}

// Deletes a token's walks that have been idle for a day, and all but its last hundred, because a client may keep
// sending new queries.
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
