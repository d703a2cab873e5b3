import type { SessionId, UserId } from '../../../ids.ts'
import { columns, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'

const declared = {
  sessionId: text<SessionId>(),
  connectionId: text(),
  userId: text<UserId>(),
  subject: text(),
  providerSession: maybe(text()),
  expiresAt: time(),
  idTokenSealed: maybe(text()),
}
const { toRow } = columns(declared, {})

export type ProviderSessionTable = TableOf<typeof declared>

/** Links one of our sessions to the subject and session at the provider behind a connection. */
export async function insert(
  tx: Tx,
  session: Omit<RecordOf<typeof declared>, 'idTokenSealed'> & {
    readonly idTokenSealed?: string | undefined
  },
): Promise<void> {
  await tx.query
    .insertInto('provider_session')
    .values(toRow({ ...session, idTokenSealed: session.idTokenSealed }))
    .execute()
}

/** Finds the sealed ID token with which a session began, if it was kept. */
export async function findIdToken(db: Db, sessionId: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('provider_session')
    .select('id_token_sealed')
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  return row?.id_token_sealed ?? undefined
}

/**
 * Finds up to 1,000 sessions of a subject at a connection, or of one provider session; if both are given, both must
 * match.
 */
export async function list(
  db: Db,
  connectionId: string,
  whose: { subject: string | undefined; providerSession: string | undefined },
): Promise<{ sessionId: SessionId; userId: UserId }[]> {
  let query = db.query
    .selectFrom('provider_session')
    .select(['session_id', 'user_id'])
    .where('connection_id', '=', connectionId)
  if (whose.subject !== undefined) query = query.where('subject', '=', whose.subject)
  if (whose.providerSession !== undefined) {
    query = query.where('provider_session', '=', whose.providerSession)
  }
  const rows = await query.limit(1_000).execute()
  return rows.map((row) => ({
    sessionId: row.session_id as SessionId,
    userId: row.user_id as UserId,
  }))
}

/** Lists all unexpired sessions that were started through a connection. */
export async function listOfConnection(
  db: Db,
  connectionId: string,
  nowMs: number,
): Promise<{ sessionId: SessionId; userId: UserId }[]> {
  const rows = await db.query
    .selectFrom('provider_session')
    .select(['session_id', 'user_id'])
    .where('connection_id', '=', connectionId)
    .where('expires_at', '>', nowMs)
    .execute()
  return rows.map((row) => ({
    sessionId: row.session_id as SessionId,
    userId: row.user_id as UserId,
  }))
}

export async function forget(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('provider_session').where('expires_at', '<', before).execute()
}
