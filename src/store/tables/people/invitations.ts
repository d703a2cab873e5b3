import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import { columns, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import { newestFirst, type NewestPage } from '../../db/newest-first.ts'
import type { OwnKey } from '../../db/own-rows.ts'
import type { MembershipRole } from './memberships.ts'
import { emailKey } from './users.ts'

const declared = {
  id: text<Id<'inv'>>(),
  organizationId: text<OrganizationId>(),
  email: text(),
  role: text<MembershipRole>(),
  createdAt: time(),
  createdBy: maybe(text()),
  expiresAt: time(),
  acceptedAt: maybe(time()),
  acceptedBy: maybe(text<UserId>()),
  revokedAt: maybe(time()),
}

const hidden = {
  emailKey: text(),
  digest: text(),
}
const { fromRow, toRow } = columns(declared, hidden)

/** An invitation, without its token. */
export type InvitationRecord = RecordOf<typeof declared>
export type InvitationTable = TableOf<typeof declared & typeof hidden>

export async function insert(
  tx: Tx,
  invitation: Pick<
    InvitationRecord,
    'id' | 'organizationId' | 'email' | 'role' | 'createdBy' | 'expiresAt'
  > & { digest: string },
): Promise<InvitationRecord> {
  const row = await tx.query
    .insertInto('invitation')
    .values(toRow({ ...invitation, emailKey: emailKey(invitation.email), createdAt: tx.now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/**
 * Finds the invitation for a token's digest, whatever its state. Whoever presents a token has not named the
 * organization, so this look-up needs none.
 */
export async function findByDigest(db: Db, digest: string): Promise<InvitationRecord | undefined> {
  const row = await db.query
    .selectFrom('invitation')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: NewestPage,
): Promise<InvitationRecord[]> {
  const rows = await newestFirst(db.query.selectFrom('invitation').selectAll(), page)
    .where('organization_id', '=', organizationId)
    .execute()
  return rows.map(fromRow)
}

/** Lists up to 50 open invitations for an e-mail address, in any organization that still exists, newest first. */
export async function listOpenFor(
  db: Db,
  email: string,
  nowMs: number,
): Promise<InvitationRecord[]> {
  const rows = await db.query
    .selectFrom('invitation')
    .innerJoin('organization', 'organization.id', 'invitation.organization_id')
    .selectAll('invitation')
    .where('organization.deleted_at', 'is', null)
    .where('email_key', '=', emailKey(email))
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .orderBy('invitation.id', 'desc')
    .limit(50)
    .execute()
  return rows.map(fromRow)
}

/**
 * Marks an open invitation as accepted; undefined if it was not open or its organization was deleted. Only the first of
 * concurrent callers succeeds.
 */
export async function accept(
  tx: Tx,
  { organizationId, id }: OwnKey,
  acceptedBy: UserId,
): Promise<InvitationRecord | undefined> {
  const row = await tx.query
    .updateTable('invitation')
    .set({ accepted_at: tx.now, accepted_by: acceptedBy })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('organization')
          .select('organization.id')
          .where('organization.id', '=', organizationId)
          .where('organization.deleted_at', 'is', null),
      ),
    )
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Withdraws an invitation; undefined if there is none or it was already accepted or withdrawn. */
export async function revoke(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<InvitationRecord | undefined> {
  const row = await tx.query
    .updateTable('invitation')
    .set({ revoked_at: tx.now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Withdraws the open invitations for an address in an organization, so that a newer one can replace them. */
export async function revokeOpenFor(
  tx: Tx,
  organizationId: OrganizationId,
  email: string,
): Promise<void> {
  await tx.query
    .updateTable('invitation')
    .set({ revoked_at: tx.now })
    .where('organization_id', '=', organizationId)
    .where('email_key', '=', emailKey(email))
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Withdraws the open invitations that were created with these access tokens; returns them. */
export async function revokeMadeByTokens(
  tx: Tx,
  made: { readonly organizationId: OrganizationId; readonly makers: readonly string[] },
): Promise<InvitationRecord[]> {
  const rows = await tx.query
    .updateTable('invitation')
    .set({ revoked_at: tx.now })
    .where('organization_id', '=', made.organizationId)
    .where('created_by', 'in', made.makers)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/**
 * Withdraws the open invitations that a member created, directly or through an access token; `role` limits this to
 * invitations for that role. Returns the withdrawn invitations.
 */
export async function revokeMadeBy(
  tx: Tx,
  made: {
    readonly organizationId: OrganizationId
    readonly userId: UserId
    readonly role?: MembershipRole | undefined
  },
): Promise<InvitationRecord[]> {
  let query = tx.query
    .updateTable('invitation')
    .set({ revoked_at: tx.now })
    .where('organization_id', '=', made.organizationId)
    .where((eb) =>
      eb.or([
        eb('created_by', '=', made.userId),
        eb(
          'created_by',
          'in',
          tx.query
            .selectFrom('access_token')
            .select('access_token.id')
            .where('access_token.organization_id', '=', made.organizationId)
            .where('access_token.creator_user_id', '=', made.userId),
        ),
      ]),
    )
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
  if (made.role !== undefined) query = query.where('role', '=', made.role)
  return (await query.returningAll().execute()).map(fromRow)
}
