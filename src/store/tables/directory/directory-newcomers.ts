import { sql, type RawBuilder } from 'kysely'
import type { Id, OrganizationId, UserId } from '../../../ids.ts'
import type { Tx } from '../../db/db.ts'
import { bucketSize } from './directory-counts.ts'
import {
  insert as insertUser,
  type DirectoryUserData,
  type DirectoryUserRecord,
} from './directory-users.ts'
import { insert as insertMembership } from '../people/memberships.ts'
import { emailKey, insert as insertPerson } from '../people/users.ts'

/** A new account with its membership and its directory user. */
export interface Newcomer {
  readonly id: Id<'mem'>
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly name: string
  readonly email: string | undefined
  readonly active: boolean
  readonly data: DirectoryUserData
}

/** The identifiers that could match an existing user or member. */
export interface KnownBy {
  readonly userNameKey: string
  readonly externalId: string | undefined
  /** The e-mail addresses in lower case. */
  readonly emailKeys: readonly string[]
}

/**
 * Adds a person, a membership as viewer and the directory user. Returns `known`, and writes nothing, if an identifier
 * may already belong to somebody. Returns `taken` if a concurrent change took the user name or external id; the caller
 * must then roll back.
 */
export async function insertIfNew(
  tx: Tx,
  newcomer: Newcomer,
  by: KnownBy,
): Promise<DirectoryUserRecord | 'known' | 'taken'> {
  if (tx.engine === 'postgres') return await insertAtOnce(tx, newcomer, by)
  const { id, organizationId, userId, name, email, data } = newcomer
  const { rows } = await sql<{ known: number }>`select
    ${isKnown(organizationId, by, sql`in (${sql.join(by.emailKeys)})`)} as known`.execute(tx.query)
  if (rows[0]?.known !== 0) return 'known'
  await insertPerson(tx, { id: userId, name, email, emailFrom: organizationId })
  await insertMembership(tx, {
    id,
    organizationId,
    userId,
    role: 'viewer',
    source: 'directory',
    deactivatedAt: newcomer.active ? undefined : tx.now,
  })
  return (await insertUser(tx, { id, organizationId, userId, data })) ?? 'taken'
}

function isKnown(
  organizationId: OrganizationId,
  by: KnownBy,
  amongEmails: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(exists (select 1 from directory_user
      where organization_id = ${organizationId} and user_name_key = ${by.userNameKey})
    or exists (select 1 from directory_user
      where organization_id = ${organizationId} and external_id = ${by.externalId ?? null})
    or exists (select 1 from directory_departed
      where organization_id = ${organizationId} and external_id = ${by.externalId ?? null})
    or exists (select 1 from "user" where email_key ${amongEmails}))`
}

/** Checks and adds in a single statement whose text never varies, so that its plan can be cached. */
async function insertAtOnce(
  tx: Tx,
  newcomer: Newcomer,
  by: KnownBy,
): Promise<DirectoryUserRecord | 'known' | 'taken'> {
  const { id, organizationId, userId, name, email, data } = newcomer
  const at = sql`cast(${tx.now} as bigint)`
  const texts = (values: readonly string[]): RawBuilder<unknown> => sql`cast(${values} as text[])`
  const { rows } = await sql<{ known: boolean; position: number | null }>`
    with asked as materialized (
      select ${isKnown(organizationId, by, sql`= any(${texts(by.emailKeys)})`)} as known
    ),
    place as (
      update directory set next_position = next_position + 1 from asked
      where organization_id = ${organizationId} and not known returning next_position - 1 as position
    ),
    person as (
      insert into "user" (id, name, email, email_key, email_organization_id, created_at, version)
      select ${userId}, ${name}, ${email ?? null}, ${email === undefined ? null : emailKey(email)},
        ${organizationId}, ${at}, 1
      from place
    ),
    member as (
      insert into membership
        (id, organization_id, user_id, role, source, created_at, deactivated_at, version)
      select ${id}, ${organizationId}, ${userId}, 'viewer', 'directory', ${at},
        cast(${newcomer.active ? null : tx.now} as bigint), 1
      from place
    ),
    counted as (
      insert into directory_count (organization_id, kind, bucket, amount)
      select ${organizationId}, 'user', position / ${sql.lit(bucketSize)}, 1 from place
      on conflict (organization_id, kind, bucket)
      do update set amount = directory_count.amount + 1
    ),
    mails as (
      insert into directory_email (organization_id, value_key, directory_user_id)
      select ${organizationId}, key, ${id} from place, unnest(${texts(data.emailKeys)}) as key
      on conflict do nothing
    ),
    made as (
      insert into directory_user (id, organization_id, user_id, position, user_name_key, external_id,
        active, attributes, folded, version, created_at, modified_at)
      select ${id}, ${organizationId}, ${userId}, position, ${data.userNameKey},
        ${data.externalId ?? null}, cast(${data.active ? 1 : 0} as integer), ${data.attributes},
        cast(${data.folded} as jsonb), 1, ${at}, ${at}
      from place
      on conflict do nothing
      returning position
    )
    select known, made.position from asked left join made on true`.execute(tx.query)
  const [found] = rows
  if (found === undefined || found.known) return 'known'
  return found.position === null ? 'taken' : asInserted(tx, newcomer, found.position)
}

function asInserted(tx: Tx, newcomer: Newcomer, position: number): DirectoryUserRecord {
  const { id, organizationId, userId, data } = newcomer
  return {
    id,
    organizationId,
    userId,
    position,
    userNameKey: data.userNameKey,
    externalId: data.externalId,
    active: data.active,
    attributes: data.attributes,
    version: 1,
    createdAt: tx.now,
    modifiedAt: tx.now,
  }
}
