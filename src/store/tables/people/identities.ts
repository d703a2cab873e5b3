import type { Id, UserId } from '../../../ids.ts'
import type { Connection, Transaction } from '../../db/db.ts'

export interface IdentityTable {
  id: string
  user_id: string
  provider: string
  connection_id: string
  issuer: string
  subject: string
  email: string | null
  email_verified: number
  name: string | null
  created_at: number
  last_used_at: number | null
}

/** What names somebody at a provider: never an e-mail address. */
export interface IdentityKey {
  /** '' for the built-in providers. */
  readonly connectionId: string
  readonly issuer: string
  readonly subject: string
}

/** Who somebody is at a provider. */
export interface IdentityRecord extends IdentityKey {
  readonly id: Id<'idn'>
  readonly userId: UserId
  readonly provider: string
  readonly email: string | undefined
  readonly emailVerified: boolean
  readonly name: string | undefined
  readonly createdAt: number
  readonly lastUsedAt: number | undefined
}

/** Adds an identity to a person; undefined if it belongs to somebody already. */
export async function insert(
  tx: Transaction,
  identity: IdentityKey & {
    id: Id<'idn'>
    userId: UserId
    provider: string
    email: string | undefined
    emailVerified: boolean
    name: string | undefined
  },
): Promise<IdentityRecord | undefined> {
  const row = await tx.query
    .insertInto('identity')
    .values({
      id: identity.id,
      user_id: identity.userId,
      provider: identity.provider,
      connection_id: identity.connectionId,
      issuer: identity.issuer,
      subject: identity.subject,
      email: identity.email ?? null,
      email_verified: identity.emailVerified ? 1 : 0,
      name: identity.name ?? null,
      created_at: tx.now,
      last_used_at: null,
    })
    .onConflict((conflict) => conflict.columns(['connection_id', 'issuer', 'subject']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The identity with exactly this connection, issuer and subject. */
export async function find(at: Connection, key: IdentityKey): Promise<IdentityRecord | undefined> {
  const row = await at.query
    .selectFrom('identity')
    .selectAll()
    .where('connection_id', '=', key.connectionId)
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** A person's identities, oldest first. */
export async function listOf(at: Connection, userId: UserId): Promise<IdentityRecord[]> {
  const rows = await at.query
    .selectFrom('identity')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

/** Notes a use and what the provider says of the person today; the identity stays whose it is. */
export async function noteUse(
  tx: Transaction,
  id: string,
  seen: { email: string | undefined; emailVerified: boolean; name: string | undefined },
): Promise<void> {
  await tx.query
    .updateTable('identity')
    .set({
      last_used_at: tx.now,
      email: seen.email ?? null,
      email_verified: seen.emailVerified ? 1 : 0,
      name: seen.name ?? null,
    })
    .where('id', '=', id)
    .execute()
}

/** Takes an identity from a person; whether there was one. */
export async function remove(tx: Transaction, userId: UserId, id: string): Promise<boolean> {
  const result = await tx.query
    .deleteFrom('identity')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

function fromRow(row: IdentityTable): IdentityRecord {
  return {
    id: row.id as Id<'idn'>,
    userId: row.user_id as UserId,
    provider: row.provider,
    connectionId: row.connection_id,
    issuer: row.issuer,
    subject: row.subject,
    email: row.email ?? undefined,
    emailVerified: row.email_verified === 1,
    name: row.name ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
  }
}
