import type { Db, Tx } from '../../db/db.ts'
import type { DirectoryPlace } from './directory-lists.ts'

export interface DirectoryWalkTable {
  token_id: string
  query_digest: string
  next_index: number
  next_place: string
  previous_index: number | null
  previous_place: string | null
  at: number
}

/** Which walk: a token's, with one query. */
export interface WalkKey {
  readonly tokenId: string
  readonly queryDigest: string
}

const walksOfToken = 100
const keptMs = 24 * 3600 * 1000

/** Where call records are: the place behind which the page that begins at an index continues, if the walk got there. */
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
  // The same page again: its answer was lost on the way.
  if (row?.previous_index === index && row.previous_place !== null) {
    return JSON.parse(row.previous_place) as DirectoryPlace
  }
  return undefined
}

/** Notes, where call records are, where a page ended and where it began; `from` is undefined on a first page. */
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

/** Deletes, where call records are, the walks that stood still for a day: of revoked tokens and deleted directories too. */
export async function forgetOld(tx: Tx): Promise<void> {
  await tx.query
    .deleteFrom('directory_walk')
    .where('at', '<=', tx.now - keptMs)
    .execute()
}

// A token with ever new queries keeps its last hundred walks only.
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
