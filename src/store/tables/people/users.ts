import { domainToASCII } from 'node:url'
import type { OrganizationId, UserId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface UserTable {
  id: string
  name: string
  email: string | null
  email_key: string | null
  email_organization_id: string | null
  created_at: number
  last_seen_at: number | null
  deactivated_at: number | null
  version: number
}

/** A person as stored; the e-mail address is optional. */
export interface UserRecord {
  readonly id: UserId
  readonly name: string
  readonly email: string | undefined
  /**
   * The organization whose directory or provider supplied the address; undefined if the person proved the address or
   * the operator set it.
   */
  readonly emailFrom: OrganizationId | undefined
  readonly createdAt: number
  readonly lastSeenAt: number | undefined
  readonly deactivatedAt: number | undefined
  readonly version: number
}

const maxAlike = 1000

/** Returns the form in which e-mail addresses are compared: addresses that differ only in case count as the same. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

export async function insert(
  tx: Tx,
  user: {
    id: UserId
    name: string
    email: string | undefined
    emailFrom?: OrganizationId | undefined
  },
): Promise<UserRecord> {
  const row = await tx.query
    .insertInto('user')
    .values({
      id: user.id,
      name: user.name,
      email: user.email ?? null,
      email_key: user.email === undefined ? null : emailKey(user.email),
      email_organization_id: user.emailFrom ?? null,
      created_at: tx.now,
      last_seen_at: null,
      deactivated_at: null,
      version: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

export async function find(db: Db, id: string): Promise<UserRecord | undefined> {
  const row = await db.query.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Maps ids to people's names and addresses; pass at most a few hundred ids. */
export async function contactsOf(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly email: string | null }>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('user')
    .select(['id', 'name', 'email'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Finds up to ten people with this e-mail address, oldest first. An address that an organization supplied counts only
 * within that organization, or everywhere if the organization holds the domain; `anywhere` accepts every address.
 */
export async function listByEmail(
  db: Db,
  email: string,
  where: { readonly organizationId?: string | undefined } | 'anywhere' = {},
): Promise<UserRecord[]> {
  const rows = await db.query
    .selectFrom('user')
    .selectAll()
    .where('email_key', '=', emailKey(email))
    .$if(where !== 'anywhere', (query) =>
      query.where((eb) =>
        eb.or([
          eb('email_organization_id', 'is', null),
          eb(
            'email_organization_id',
            '=',
            where === 'anywhere' ? '' : (where.organizationId ?? ''),
          ),
          eb('email_organization_id', 'in', holderOf(db, email)),
        ]),
      ),
    )
    .orderBy('id')
    .limit(10)
    .execute()
  return rows.map(fromRow)
}

/**
 * Finds the ids of up to 1,000 people who have one of these addresses, provided that the address counts in this
 * organization.
 */
export async function listByEmailKeys(
  db: Db,
  emailKeys: readonly string[],
  organizationId: string,
): Promise<string[]> {
  const held = await listHeldKeys(db, emailKeys)
  const rows = await db.query
    .selectFrom('user')
    .select('id')
    .where('email_key', 'in', emailKeys)
    .where((eb) =>
      eb.or([
        eb('email_organization_id', 'is', null),
        eb('email_organization_id', '=', organizationId),
        // Any organization may give its people any address. An address that another organization supplied therefore
        // counts only if that organization holds the domain.
        ...held.map(({ holder, keys }) =>
          eb.and([eb('email_organization_id', '=', holder), eb('email_key', 'in', keys)]),
        ),
      ]),
    )
    .limit(maxAlike)
    .execute()
  return rows.map(({ id }) => id)
}

/** Selects the addresses in verified domains, grouped by domain, with the organization that holds each domain. */
async function listHeldKeys(
  db: Db,
  emailKeys: readonly string[],
): Promise<{ readonly holder: string; readonly keys: readonly string[] }[]> {
  const keysOf = Map.groupBy(emailKeys, domainOf)
  const rows = await db.query
    .selectFrom('domain_holder')
    .select(['name', 'organization_id'])
    .where('name', 'in', [...keysOf.keys()])
    .execute()
  return rows.map((row) => ({ holder: row.organization_id, keys: keysOf.get(row.name) ?? [] }))
}

function holderOf(db: Db, email: string) {
  return db.query
    .selectFrom('domain_holder')
    .select('organization_id')
    .where('name', '=', domainOf(email))
}

function domainOf(email: string): string {
  return domainToASCII(email.slice(email.lastIndexOf('@') + 1).replace(/\.$/, ''))
}

export async function exists(db: Db): Promise<boolean> {
  return (await db.query.selectFrom('user').select('id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Changes a person's name, e-mail address or deactivation; undefined if there is no such person, or none at that
 * version.
 */
export async function update(
  tx: Tx,
  id: UserId,
  change: {
    name?: string | undefined
    email?: string | undefined
    /** The organization that supplied the address; null once the person has proven the address. */
    emailFrom?: OrganizationId | null | undefined
    /** null reactivates the person. */
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
  if (change.emailFrom !== undefined) {
    query = query.set({ email_organization_id: change.emailFrom })
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

export function fromRow(row: UserTable): UserRecord {
  return {
    id: row.id as UserId,
    name: row.name,
    email: row.email ?? undefined,
    emailFrom: (row.email_organization_id ?? undefined) as OrganizationId | undefined,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? undefined,
    deactivatedAt: row.deactivated_at ?? undefined,
    version: row.version,
  }
}
