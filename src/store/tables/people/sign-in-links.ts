import type { UserId } from '../../../ids.ts'
import { columns, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'

const declared = {
  kind: text<'setup' | 'sign_in'>(),
  userId: maybe(text<UserId>()),
  expiresAt: time(),
}

const hidden = {
  digest: text(),
  createdAt: time(),
  usedAt: maybe(time()),
}
const { fromRow, toRow } = columns(declared, hidden)

/** A link with which someone can sign in once; a setup link is for the first owner. */
export type SignInLinkRecord = RecordOf<typeof declared>
export type SignInLinkTable = TableOf<typeof declared & typeof hidden>

/** Deletes unused setup links that expire before this time; Infinity deletes all of them. */
export async function removeSetUp(tx: Tx, endingBeforeMs: number): Promise<void> {
  await tx.query
    .deleteFrom('sign_in_link')
    .where('kind', '=', 'setup')
    .where('used_at', 'is', null)
    .$if(endingBeforeMs !== Infinity, (query) => query.where('expires_at', '<', endingBeforeMs))
    .execute()
}

export async function insert(tx: Tx, link: SignInLinkRecord & { digest: string }): Promise<void> {
  await tx.query
    .insertInto('sign_in_link')
    .values(toRow({ ...link, createdAt: tx.now }))
    .execute()
}

/** Finds the unused, unexpired link with this digest. */
export async function findOpen(
  db: Db,
  digest: string,
  nowMs: number,
): Promise<SignInLinkRecord | undefined> {
  const row = await db.query
    .selectFrom('sign_in_link')
    .selectAll()
    .where('digest', '=', digest)
    .where('used_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Marks a link as used; undefined if it is unknown, of another kind, expired or already used. Only the first of
 * concurrent callers succeeds.
 */
export async function use(
  tx: Tx,
  digest: string,
  kind: SignInLinkRecord['kind'],
): Promise<SignInLinkRecord | undefined> {
  const row = await tx.query
    .updateTable('sign_in_link')
    .set({ used_at: tx.now })
    .where('digest', '=', digest)
    .where('kind', '=', kind)
    .where('used_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}
