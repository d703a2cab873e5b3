import type { UserId } from '../../../ids.ts'
import type { Connection, Transaction } from '../../db/db.ts'

export interface UserTable {
  id: string
  name: string
  email: string | null
  email_key: string | null
  created_at: number
  last_seen_at: number | null
  deactivated_at: number | null
  version: number
}

/** A person as stored; a person needs no e-mail. */
export interface UserRecord {
  readonly id: UserId
  readonly name: string
  readonly email: string | undefined
  readonly createdAt: number
  readonly lastSeenAt: number | undefined
  readonly deactivatedAt: number | undefined
  readonly version: number
}

/** What an e-mail address is compared by; addresses that differ in case only are one person's. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

/** Adds a person. */
export async function insert(
  tx: Transaction,
  user: { id: UserId; name: string; email: string | undefined },
): Promise<UserRecord> {
  const row = await tx.query
    .insertInto('user')
    .values({
      id: user.id,
      name: user.name,
      email: user.email ?? null,
      email_key: user.email === undefined ? null : emailKey(user.email),
      created_at: tx.now,
      last_seen_at: null,
      deactivated_at: null,
      version: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** The person with this id. */
export async function find(at: Connection, id: string): Promise<UserRecord | undefined> {
  const row = await at.query.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** The names and addresses of people, by id; at most a few hundred at once. */
export async function contactsOf(
  at: Connection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly email: string | null }>> {
  if (ids.length === 0) return new Map()
  const rows = await at.query
    .selectFrom('user')
    .select(['id', 'name', 'email'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** People with this e-mail address, oldest first: an address is no identity, so there may be several. */
export async function listByEmail(at: Connection, email: string): Promise<UserRecord[]> {
  const rows = await at.query
    .selectFrom('user')
    .selectAll()
    .where('email_key', '=', emailKey(email))
    .orderBy('id')
    .limit(10)
    .execute()
  return rows.map(fromRow)
}

/** Whether anybody is there at all. */
export async function exists(at: Connection): Promise<boolean> {
  return (await at.query.selectFrom('user').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Changes name, e-mail or deactivation; undefined if there is no such person (or not at that version). */
export async function update(
  tx: Transaction,
  id: UserId,
  change: {
    name?: string | undefined
    email?: string | undefined
    /** null reactivates. */
    deactivatedAt?: number | null | undefined
    expectedVersion?: number | undefined
  },
): Promise<UserRecord | undefined> {
  let query = tx.query
    .updateTable('user')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', id)
  if (change.name !== undefined) query = query.set({ name: change.name })
  if (change.email !== undefined) {
    query = query.set({ email: change.email, email_key: emailKey(change.email) })
  }
  if (change.deactivatedAt !== undefined) {
    query = query.set({ deactivated_at: change.deactivatedAt })
  }
  if (change.expectedVersion !== undefined) {
    query = query.where('version', '=', change.expectedVersion)
  }
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** A row as a person; also for joins of other files. */
export function fromRow(row: UserTable): UserRecord {
  return {
    id: row.id as UserId,
    name: row.name,
    email: row.email ?? undefined,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? undefined,
    deactivatedAt: row.deactivated_at ?? undefined,
    version: row.version,
  }
}
