import type { Id, UserId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

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
  awaits_owner: string | null
  former_client_id: string | null
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
  /** What no owner stands behind in this link; it never leads to an owner's account unconfirmed. */
  readonly awaitsOwner: AwaitsOwner | undefined
}

/** The connection, or the directory (SCIM), through which an identity was linked and which an administrator set up. */
export type AwaitsOwner = 'connection' | 'directory'

/** Adds an identity to a person; undefined if it belongs to somebody already. */
export async function insert(
  tx: Tx,
  identity: IdentityKey & {
    id: Id<'idn'>
    userId: UserId
    provider: string
    email: string | undefined
    emailVerified: boolean
    name: string | undefined
    awaitsOwner?: AwaitsOwner | undefined
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
      awaits_owner: identity.awaitsOwner ?? null,
      former_client_id: null,
    })
    .onConflict((conflict) => conflict.columns(['connection_id', 'issuer', 'subject']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The identity with exactly this connection, issuer and subject. */
export async function find(db: Db, key: IdentityKey): Promise<IdentityRecord | undefined> {
  const row = await db.query
    .selectFrom('identity')
    .selectAll()
    .where('connection_id', '=', key.connectionId)
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** A person's identities, oldest first. */
export async function listOf(db: Db, userId: UserId): Promise<IdentityRecord[]> {
  const rows = await db.query
    .selectFrom('identity')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

/**
 * A person's identities that can still sign in, oldest first: those of deleted connections, of an issuer that a
 * connection had before, or of a client under which the provider knew them by another subject, bind nobody.
 */
export async function listLiving(db: Db, userId: UserId): Promise<IdentityRecord[]> {
  const rows = await db.query
    .selectFrom('identity')
    .leftJoin('connection', 'connection.id', 'identity.connection_id')
    .selectAll('identity')
    .where('user_id', '=', userId)
    .where((eb) =>
      eb.or([
        eb('identity.connection_id', '=', ''),
        eb.and([
          eb('identity.issuer', '=', eb.ref('connection.issuer')),
          eb.or([
            eb('identity.former_client_id', 'is', null),
            eb('identity.former_client_id', '=', eb.ref('connection.client_id')),
          ]),
        ]),
      ]),
    )
    .orderBy('identity.id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

/** How many active members a connection signs in, how many of them have no other way in, and which of those are owners. */
export async function countDependents(
  db: Db,
  connection: { readonly id: string; readonly organizationId: string; readonly issuer: string },
): Promise<{ people: number; onlyThis: number; owners: number }> {
  const linked = db.query
    .selectFrom('identity')
    .innerJoin('membership', 'membership.user_id', 'identity.user_id')
    .select(['identity.user_id', 'membership.role'])
    .distinct()
    .where('identity.connection_id', '=', connection.id)
    .where('identity.issuer', '=', connection.issuer)
    .where('membership.organization_id', '=', connection.organizationId)
    .where('membership.deactivated_at', 'is', null)
  const rows = await db.query
    .selectFrom(linked.as('linked'))
    .select((eb) => [
      'linked.role',
      eb
        .exists(
          eb
            .selectFrom('identity as other')
            .leftJoin('connection', 'connection.id', 'other.connection_id')
            .select('other.id')
            .whereRef('other.user_id', '=', 'linked.user_id')
            .where('other.connection_id', '!=', connection.id)
            .where((or) =>
              or.or([
                or('other.connection_id', '=', ''),
                or.and([
                  or('other.issuer', '=', or.ref('connection.issuer')),
                  or.or([
                    or('other.former_client_id', 'is', null),
                    or('other.former_client_id', '=', or.ref('connection.client_id')),
                  ]),
                ]),
              ]),
            ),
        )
        .as('has_other'),
    ])
    .execute()
  const alone = rows.filter((row) => !row.has_other)
  return {
    people: rows.length,
    onlyThis: alone.length,
    owners: alone.filter(({ role }) => role === 'owner').length,
  }
}

/** Notes that an owner stands behind a connection's links now, or that a person has confirmed one link. */
export async function vouch(
  tx: Tx,
  which: { readonly id: string } | { readonly connectionId: string; readonly issuer: string },
): Promise<void> {
  const links = tx.query.updateTable('identity').set({ awaits_owner: null })
  const chosen =
    'id' in which
      ? links.where('id', '=', which.id)
      : links
          .where('connection_id', '=', which.connectionId)
          // Whoever saves it sees the issuer of now: links of an earlier one could come back with it.
          .where('issuer', '=', which.issuer)
          .where('awaits_owner', '=', 'connection')
  await chosen.execute()
}

/** Notes which client a connection's identities belong to, before it gets another whose subjects are different ones. */
export async function bindToClient(
  tx: Tx,
  connection: { readonly id: string; readonly issuer: string; readonly clientId: string },
): Promise<void> {
  await tx.query
    .updateTable('identity')
    .set({ former_client_id: connection.clientId })
    .where('connection_id', '=', connection.id)
    .where('issuer', '=', connection.issuer)
    .where('former_client_id', 'is', null)
    .execute()
}

/** Notes a use and what the provider says of the person today; the identity stays whose it is. */
export async function noteUse(
  tx: Tx,
  id: string,
  seen: { email: string | undefined; emailVerified: boolean; name: string | undefined },
): Promise<void> {
  await tx.query
    .updateTable('identity')
    .set({
      last_used_at: tx.now,
      former_client_id: null,
      email: seen.email ?? null,
      email_verified: seen.emailVerified ? 1 : 0,
      name: seen.name ?? null,
    })
    .where('id', '=', id)
    .execute()
}

/** Takes an identity from a person; whether there was one. */
export async function remove(tx: Tx, userId: UserId, id: string): Promise<boolean> {
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
    awaitsOwner: (row.awaits_owner ?? undefined) as AwaitsOwner | undefined,
  }
}
