import type { Id, OrganizationId } from '../../../ids.ts'
import { limitLocks } from '../../db/brief-locks.ts'
import { columns, lastUse, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { OwnKey } from '../../db/own-rows.ts'
import type { Plan } from '../organizations/organizations.ts'

const declared = {
  id: text<Id<'tok'>>(),
  organizationId: text<OrganizationId>(),
  name: text(),
  hint: text(),
  createdAt: time(),
  createdBy: maybe(text()),
  ...lastUse,
  revokedAt: maybe(time()),
}

const hidden = {
  digest: text(),
  revokedBy: maybe(text()),
}
const { fromRow, toRow } = columns(declared, hidden)

/** A SCIM bearer token, with a hint instead of the token itself. */
export type DirectoryTokenRecord = RecordOf<typeof declared>
export type DirectoryTokenTable = TableOf<typeof declared & typeof hidden>

/** Adds a token; undefined if the organization already has the maximum number of active ones. */
export async function insert(
  tx: Tx,
  token: Pick<DirectoryTokenRecord, 'id' | 'organizationId' | 'name' | 'hint' | 'createdBy'> & {
    digest: string
  },
  maxActive: number,
): Promise<DirectoryTokenRecord | undefined> {
  // This locks the organization's directory, so that concurrent inserts count the tokens one after the other.
  await tx.query
    .updateTable('directory')
    .set((eb) => ({ next_position: eb.ref('next_position') }))
    .where('organization_id', '=', token.organizationId)
    .execute()
  const { active } = await tx.query
    .selectFrom('directory_token')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('organization_id', '=', token.organizationId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (active >= maxActive) return undefined
  const row = await tx.query
    .insertInto('directory_token')
    .values(toRow({ ...token, createdAt: tx.now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** A token with its organization's slug and plan; without the enterprise plan, the token grants no access. */
export interface KnownToken {
  readonly token: DirectoryTokenRecord
  readonly plan: Plan
  readonly slug: string
}

/**
 * Finds the token with this digest, active or not, unless its organization is deleted. A caller that presents a token
 * has not named its organization, so this look-up needs none.
 */
export async function findByDigest(db: Db, digest: string): Promise<KnownToken | undefined> {
  const row = await withOrganization(db).where('digest', '=', digest).executeTakeFirst()
  return row && { token: fromRow(row), plan: row.plan as Plan, slug: row.slug }
}

/** Like `findByDigest`, but by id and within an organization. */
export async function findById(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<KnownToken | undefined> {
  const row = await withOrganization(db)
    .where('directory_token.organization_id', '=', organizationId)
    .where('directory_token.id', '=', id)
    .executeTakeFirst()
  return row && { token: fromRow(row), plan: row.plan as Plan, slug: row.slug }
}

function withOrganization(db: Db) {
  return db.query
    .selectFrom('directory_token')
    .innerJoin('organization', 'organization.id', 'directory_token.organization_id')
    .selectAll('directory_token')
    .select(['organization.plan', 'organization.slug'])
    .where('organization.deleted_at', 'is', null)
}

/** Lists up to 100 tokens of an organization, newest first, including revoked ones. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
): Promise<DirectoryTokenRecord[]> {
  const rows = await db.query
    .selectFrom('directory_token')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

/** Revokes a token; undefined if it does not exist or is already revoked. */
export async function revoke(
  tx: Tx,
  { organizationId, id }: OwnKey,
  revokedBy: string | undefined,
): Promise<DirectoryTokenRecord | undefined> {
  const row = await tx.query
    .updateTable('directory_token')
    .set({ revoked_at: tx.now, revoked_by: revokedBy ?? null })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function isAnyActive(db: Db, organizationId: OrganizationId): Promise<boolean> {
  const row = await db.query
    .selectFrom('directory_token')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function noteUse(
  tx: Tx,
  use: { id: string; at: number; address: string | undefined; agent: string | undefined },
): Promise<void> {
  await limitLocks(tx)
  await tx.query
    .updateTable('directory_token')
    .set(toRow({ lastUsedAt: use.at, lastUsedAddress: use.address, lastUsedAgent: use.agent }))
    .where('id', '=', use.id)
    .execute()
}
