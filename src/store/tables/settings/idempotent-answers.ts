import type { UserId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface IdempotentAnswerTable {
  user_id: string
  key_digest: string
  route: string
  request_digest: string
  status: number | null
  answer_sealed: string | null
  created_at: number
}

/** The response recorded for an Idempotency-Key. Without a status, the request is still in progress. */
export interface IdempotentAnswerRecord {
  readonly route: string
  readonly requestDigest: string
  readonly status: number | undefined
  readonly answerSealed: string | undefined
  readonly createdAt: number
}

/** Claims an Idempotency-Key for a request; false if it is already claimed. */
export async function take(
  tx: Tx,
  entry: { userId: UserId; keyDigest: string; route: string; requestDigest: string },
): Promise<boolean> {
  const result = await tx.query
    .insertInto('idempotent_answer')
    .values({
      user_id: entry.userId,
      key_digest: entry.keyDigest,
      route: entry.route,
      request_digest: entry.requestDigest,
      status: null,
      answer_sealed: null,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'key_digest']).doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function find(
  db: Db,
  userId: UserId,
  keyDigest: string,
): Promise<IdempotentAnswerRecord | undefined> {
  const row = await db.query
    .selectFrom('idempotent_answer')
    .selectAll()
    .where('user_id', '=', userId)
    .where('key_digest', '=', keyDigest)
    .executeTakeFirst()
  return (
    row && {
      route: row.route,
      requestDigest: row.request_digest,
      status: row.status ?? undefined,
      answerSealed: row.answer_sealed ?? undefined,
      createdAt: row.created_at,
    }
  )
}

/**
 * Records that the request of an Idempotency-Key took effect, before its response is known; false unless the request
 * was still in progress.
 */
export async function markDone(
  tx: Tx,
  {
    userId,
    keyDigest,
    status,
  }: {
    readonly userId: UserId
    readonly keyDigest: string
    readonly status: number
  },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('idempotent_answer')
    .set({ status })
    .where('user_id', '=', userId)
    .where('key_digest', '=', keyDigest)
    .where('status', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function keep(
  tx: Tx,
  {
    userId,
    keyDigest,
    answer,
  }: {
    readonly userId: UserId
    readonly keyDigest: string
    readonly answer: { status: number; answerSealed: string }
  },
): Promise<void> {
  await tx.query
    .updateTable('idempotent_answer')
    .set({ status: answer.status, answer_sealed: answer.answerSealed })
    .where('user_id', '=', userId)
    .where('key_digest', '=', keyDigest)
    .execute()
}

/** Releases an Idempotency-Key for reuse, unless its request is recorded as done. */
export async function release(tx: Tx, userId: UserId, keyDigest: string): Promise<void> {
  await tx.query
    .deleteFrom('idempotent_answer')
    .where('user_id', '=', userId)
    .where('key_digest', '=', keyDigest)
    .where('status', 'is', null)
    .execute()
}

export async function forget(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('idempotent_answer').where('created_at', '<', before).execute()
}
