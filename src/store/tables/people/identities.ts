import type { Id, UserId } from '../../../ids.ts'
import { columns, flag, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'

/** Identifies a person at a provider; an e-mail address is never enough to do that. */
export interface IdentityKey {
  /** Empty for the built-in providers. */
  readonly connectionId: string
  readonly issuer: string
  readonly subject: string
}

const declared = {
  id: text<Id<'idn'>>(),
  userId: text<UserId>(),
  provider: text(),
  connectionId: text(),
  issuer: text(),
  subject: text(),
  email: maybe(text()),
  emailVerified: flag(),
  name: maybe(text()),
  createdAt: time(),
  lastUsedAt: maybe(time()),
  /**
   * Set until an owner approves the link or the person confirms it. While it is set, the link never leads to the
   * account of an owner of the connection's organization.
   */
  awaitsOwner: maybe(text<AwaitsOwner>()),
}

const hidden = { formerClientId: maybe(text()) }
const { fromRow, toRow } = columns(declared, hidden)

/** A link between a person and their identity at a provider. */
export type IdentityRecord = RecordOf<typeof declared>
export type IdentityTable = TableOf<typeof declared & typeof hidden>

/**
 * What linked an identity without an owner's approval: a connection or a directory (SCIM) that an administrator set up.
 */
export type AwaitsOwner = 'connection' | 'directory'

/** Links an identity to a person; undefined if it is already linked to someone. */
export async function insert(
  tx: Tx,
  identity: Omit<IdentityRecord, 'createdAt' | 'lastUsedAt' | 'awaitsOwner'> & {
    readonly awaitsOwner?: AwaitsOwner | undefined
  },
): Promise<IdentityRecord | undefined> {
  const row = await tx.query
    .insertInto('identity')
    .values(toRow({ ...identity, awaitsOwner: identity.awaitsOwner, createdAt: tx.now }))
    .onConflict((conflict) => conflict.columns(['connection_id', 'issuer', 'subject']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

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

/** Lists up to 100 of a person's identities, oldest first. */
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
 * Lists up to 100 of a person's identities, oldest first, without those of a deleted connection, of a connection's
 * former issuer, or of a former client with different subjects.
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

/**
 * Counts the active members who sign in through a connection, how many of them have no identity elsewhere, and how many
 * of those are owners.
 */
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

/** Records that an owner now vouches for the links that a connection made, or that a person has confirmed one link. */
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
          // Links of a previous issuer are left alone: the owner can't see them, and they would become active if that
          // issuer came back.
          .where('issuer', '=', which.issuer)
          .where('awaits_owner', '=', 'connection')
  await chosen.execute()
}

/**
 * Records to which client a connection's identities belong, before the connection switches to a client that gives
 * people different subjects.
 */
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

/** Records a use of an identity, and the provider's current data about the person. */
export async function noteUse(
  tx: Tx,
  id: string,
  { email, emailVerified, name }: Pick<IdentityRecord, 'email' | 'emailVerified' | 'name'>,
): Promise<void> {
  const seen = { email, emailVerified, name, lastUsedAt: tx.now, formerClientId: undefined }
  await tx.query.updateTable('identity').set(toRow(seen)).where('id', '=', id).execute()
}

/**
 * Returns whether a person still has the identity with this id, and locks it, so that it can be removed only after the
 * transaction ends. SQLite has one writer anyway.
 */
export async function hold(tx: Tx, userId: UserId, id: string): Promise<boolean> {
  const row = await tx.query
    .selectFrom('identity')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .$if(tx.engine === 'postgres', (query) => query.forKeyShare())
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Locks a person's identities until the transaction ends, so that of two removals the second one sees what the first
 * one left. SQLite has one writer anyway.
 */
export async function lockOf(tx: Tx, userId: UserId): Promise<void> {
  if (tx.engine === 'sqlite') return
  await tx.query
    .selectFrom('identity')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('id')
    .forUpdate()
    .execute()
}

export async function remove(tx: Tx, userId: UserId, id: string): Promise<boolean> {
  const result = await tx.query
    .deleteFrom('identity')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}
