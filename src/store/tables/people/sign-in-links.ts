import type { UserId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface SignInLinkTable {
  digest: string
  kind: string
  user_id: string | null
  created_at: number
  expires_at: number
  used_at: number | null
}

/** A link that the operator printed. */
export interface SignInLinkRecord {
  readonly kind: 'setup' | 'sign_in'
  readonly userId: UserId | undefined
  readonly expiresAt: number
}

/** Removes the unused setup links that end before this time; all of them for Infinity. */
export async function removeSetUp(tx: Tx, endingBeforeMs: number): Promise<void> {
  await tx.query
    .deleteFrom('sign_in_link')
    .where('kind', '=', 'setup')
    .where('used_at', 'is', null)
    .$if(endingBeforeMs !== Infinity, (query) => query.where('expires_at', '<', endingBeforeMs))
    .execute()
}

/** Adds a link. */
export async function insert(tx: Tx, link: SignInLinkRecord & { digest: string }): Promise<void> {
  await tx.query
    .insertInto('sign_in_link')
    .values({
      digest: link.digest,
      kind: link.kind,
      user_id: link.userId ?? null,
      created_at: tx.now,
      expires_at: link.expiresAt,
      used_at: null,
    })
    .execute()
}

/** Whether an unused, unexpired link has this digest. */
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

/** Uses a link; undefined if it was used, is too old, or never was. Once only, whoever comes first. */
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

function fromRow(row: SignInLinkTable): SignInLinkRecord {
  return {
    kind: row.kind as SignInLinkRecord['kind'],
    userId: (row.user_id as UserId | null) ?? undefined,
    expiresAt: row.expires_at,
  }
}
