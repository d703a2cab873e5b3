import type { Id, OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Plan } from '../organizations/organizations.ts'

export interface DirectoryTokenTable {
  id: string
  organization_id: string
  name: string
  digest: string
  hint: string
  created_at: number
  created_by: string | null
  last_used_at: number | null
  last_used_address: string | null
  last_used_agent: string | null
  revoked_at: number | null
  revoked_by: string | null
}

/** A SCIM bearer token as stored: its digest and its hint, never itself. */
export interface DirectoryTokenRecord {
  readonly id: Id<'tok'>
  readonly organizationId: OrganizationId
  readonly name: string
  readonly hint: string
  readonly createdAt: number
  readonly createdBy: string | undefined
  readonly lastUsedAt: number | undefined
  readonly lastUsedAddress: string | undefined
  readonly lastUsedAgent: string | undefined
  readonly revokedAt: number | undefined
}

/** Adds a token unless the organization has as many active ones already; undefined then. */
export async function insert(
  tx: Tx,
  token: Pick<DirectoryTokenRecord, 'id' | 'organizationId' | 'name' | 'hint' | 'createdBy'> & {
    digest: string
  },
  maxActive: number,
): Promise<DirectoryTokenRecord | undefined> {
  // Two at once must see each other: the organization's row is taken first.
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
    .values({
      id: token.id,
      organization_id: token.organizationId,
      name: token.name,
      digest: token.digest,
      hint: token.hint,
      created_at: tx.now,
      created_by: token.createdBy ?? null,
      last_used_at: null,
      last_used_address: null,
      last_used_agent: null,
      revoked_at: null,
      revoked_by: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** A token with what of its organization decides whether it opens anything. */
export interface KnownToken {
  readonly token: DirectoryTokenRecord
  readonly plan: Plan
  readonly slug: string
}

/** The token with this digest, active or not, with its organization's plan: the one look-up without an organization. */
export async function findByDigest(db: Db, digest: string): Promise<KnownToken | undefined> {
  const row = await withOrganization(db).where('digest', '=', digest).executeTakeFirst()
  return row && { token: fromRow(row), plan: row.plan as Plan, slug: row.slug }
}

/** The same by its id. */
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

/** All tokens of an organization, newest first; revoked ones too. */
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

/** Revokes a token; undefined if there is none that is active. */
export async function revoke(
  tx: Tx,
  {
    organizationId,
    id,
    revokedBy,
  }: {
    readonly organizationId: OrganizationId
    readonly id: string
    readonly revokedBy: string | undefined
  },
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

/** Whether an organization has a token that opens something. */
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

/** Notes when and from where a token was last used. */
export async function noteUse(
  tx: Tx,
  use: { id: string; at: number; address: string | undefined; agent: string | undefined },
): Promise<void> {
  await tx.query
    .updateTable('directory_token')
    .set({
      last_used_at: use.at,
      last_used_address: use.address ?? null,
      last_used_agent: use.agent ?? null,
    })
    .where('id', '=', use.id)
    .execute()
}

function fromRow(row: DirectoryTokenTable): DirectoryTokenRecord {
  return {
    id: row.id as Id<'tok'>,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    hint: row.hint,
    createdAt: row.created_at,
    createdBy: row.created_by ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    lastUsedAddress: row.last_used_address ?? undefined,
    lastUsedAgent: row.last_used_agent ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}
