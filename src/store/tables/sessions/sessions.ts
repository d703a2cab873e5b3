import type { OrganizationId, SessionId, UserId } from '../../../ids.ts'
import { columns, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { MembershipRole } from '../people/memberships.ts'

const declared = {
  id: text<SessionId>(),
  userId: text<UserId>(),
  /** How the person signed in: github, google, sso, setup or sign_in_link. */
  provider: text(),
  identityId: maybe(text()),
  connectionId: maybe(text()),
  signedInAt: time(),
  expiresAt: time(),
  lastSeenAt: time(),
  address: maybe(text()),
  agent: maybe(text()),
  endedAt: maybe(time()),
  endReason: maybe(text()),
}

const hidden = {
  digest: text(),
  endedBy: maybe(text()),
}
const { fromRow, toRow } = columns(declared, hidden)

/** A session as stored; only this row says whether the session has ended. */
export type SessionRecord = RecordOf<typeof declared>
export type SessionTable = TableOf<typeof declared & typeof hidden>

/** A session with what requests need to know about its person. */
export interface SessionWithUser extends SessionRecord {
  readonly userName: string
  readonly userEmail: string | undefined
  readonly userDeactivatedAt: number | undefined
}

export async function insert(
  tx: Tx,
  session: Pick<
    SessionRecord,
    'id' | 'userId' | 'provider' | 'identityId' | 'connectionId' | 'expiresAt' | 'address' | 'agent'
  > & { digest: string },
): Promise<SessionRecord> {
  const row = await tx.query
    .insertInto('session')
    .values(toRow({ ...session, signedInAt: tx.now, lastSeenAt: tx.now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Finds the session for a token's digest, with its person, whatever the state of either. */
export async function findByDigest(db: Db, digest: string): Promise<SessionWithUser | undefined> {
  const row = await db.query
    .selectFrom('session')
    .innerJoin('user', 'user.id', 'session.user_id')
    .selectAll('session')
    .select(['user.name', 'user.email', 'user.deactivated_at'])
    .where('session.digest', '=', digest)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    ...fromRow(row),
    userName: row.name,
    userEmail: row.email ?? undefined,
    userDeactivatedAt: row.deactivated_at ?? undefined,
  }
}

/** Finds the session with this id, whatever its state. */
export async function find(db: Db, id: string): Promise<SessionRecord | undefined> {
  const row = await db.query
    .selectFrom('session')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Lists up to 200 of a person's active sessions, newest first; with an organization, only those that are valid there.
 */
export async function listLiving(
  db: Db,
  userId: UserId,
  {
    nowMs,
    organizationId,
  }: { readonly nowMs: number; readonly organizationId?: string | undefined },
): Promise<SessionRecord[]> {
  const rows = await db.query
    .selectFrom('session')
    .selectAll()
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .$if(organizationId !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('connection_id', 'is', null),
          eb.not(eb('connection_id', 'in', connectionsElsewhere(db, organizationId ?? ''))),
        ]),
      ),
    )
    .orderBy('id', 'desc')
    .limit(200)
    .execute()
  return rows.map(fromRow)
}

/** Lists the active sessions of an organization's active members, most recently seen first. */
export async function listOfMembers(
  db: Db,
  {
    organizationId,
    nowMs,
    limit,
  }: {
    readonly organizationId: OrganizationId
    readonly nowMs: number
    readonly limit: number
  },
): Promise<(SessionRecord & { userName: string; role: MembershipRole })[]> {
  const rows = await db.query
    .selectFrom('membership')
    .innerJoin('session', 'session.user_id', 'membership.user_id')
    .innerJoin('user', 'user.id', 'membership.user_id')
    .selectAll('session')
    .select(['user.name', 'membership.role'])
    .where('membership.organization_id', '=', organizationId)
    .where('membership.deactivated_at', 'is', null)
    .where('session.ended_at', 'is', null)
    .where('session.expires_at', '>', nowMs)
    .orderBy('session.last_seen_at', 'desc')
    .orderBy('session.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    ...fromRow(row),
    userName: row.name,
    role: row.role as MembershipRole,
  }))
}

/**
 * Ends a person's sessions that have not ended yet and match every given condition (all such sessions if none is
 * given); returns the ended sessions.
 */
export async function end(
  tx: Tx,
  {
    userId,
    which,
    why,
  }: {
    readonly userId: UserId
    readonly which: {
      id?: string | undefined
      except?: string | undefined
      connectionId?: string | undefined
      organizationId?: string | undefined
    }
    readonly why: { by: string | undefined; reason: string }
  },
): Promise<SessionRecord[]> {
  let query = tx.query
    .updateTable('session')
    .set({ ended_at: tx.now, ended_by: why.by ?? null, end_reason: why.reason })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
  if (which.id !== undefined) query = query.where('id', '=', which.id)
  if (which.except !== undefined) query = query.where('id', '!=', which.except)
  if (which.connectionId !== undefined) {
    query = query.where('connection_id', '=', which.connectionId)
  }
  const { organizationId } = which
  if (organizationId !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb('connection_id', 'is', null),
        eb.not(eb('connection_id', 'in', connectionsElsewhere(tx, organizationId))),
      ]),
    )
  }
  return (await query.returningAll().execute()).map(fromRow)
}

/** Selects the connections of all other organizations: sessions started through those are not valid in this one. */
function connectionsElsewhere(db: Db, organizationId: string) {
  return db.query
    .selectFrom('connection')
    .select('connection.id')
    .where('connection.organization_id', '!=', organizationId)
}

/** Returns those of the given people who have a session that nobody ended; pass at most a few hundred. */
export async function usersWithOne(
  db: Db,
  userIds: readonly UserId[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db.query
    .selectFrom('session')
    .select('user_id')
    .distinct()
    .where('user_id', 'in', userIds)
    .where('ended_at', 'is', null)
    .execute()
  return new Set(rows.map((row) => row.user_id))
}

/** Records when a session and its person were last seen, and from which address, if that is known. */
export async function noteSeen(
  tx: Tx,
  seen: { id: SessionId; userId: UserId; at: number; address: string | undefined },
): Promise<void> {
  await tx.query
    .updateTable('session')
    .set({
      last_seen_at: seen.at,
      ...(seen.address === undefined ? {} : { address: seen.address }),
    })
    .where('id', '=', seen.id)
    .where('last_seen_at', '<', seen.at)
    .execute()
  await tx.query
    .updateTable('user')
    .set({ last_seen_at: seen.at })
    .where('id', '=', seen.userId)
    .where((eb) => eb.or([eb('last_seen_at', 'is', null), eb('last_seen_at', '<', seen.at)]))
    .execute()
}

/** Deletes sessions that expired before a given time; a session that was ended early is kept just as long. */
export async function forget(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('session').where('expires_at', '<', before).execute()
}
