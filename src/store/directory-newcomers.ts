import { sql } from 'kysely'
import type { Id, OrganizationId, UserId } from '../ids.ts'
import type { Transaction } from './connection.ts'
import { bucketSize } from './directory-counts.ts'
import {
  insert as insertUser,
  type DirectoryUserData,
  type DirectoryUserRecord,
} from './directory-users.ts'
import { insert as insertMembership } from './memberships.ts'
import { emailKey, insert as insertPerson } from './users.ts'

/** Somebody whom only the directory knows, with the membership that it gets. */
export interface Newcomer {
  readonly id: Id<'mem'>
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly name: string
  readonly email: string | undefined
  readonly active: boolean
  readonly data: DirectoryUserData
}

/**
 * Whether nobody can be meant but somebody new: no user of the directory has the name, nobody left under the external
 * id, and no account anywhere has one of the addresses. One look at what else takes three.
 */
export async function isNew(
  tx: Transaction,
  organizationId: OrganizationId,
  by: { userNameKey: string; externalId: string | undefined; emailKeys: readonly string[] },
): Promise<boolean> {
  const known = [
    sql`exists (select 1 from directory_user
      where organization_id = ${organizationId} and user_name_key = ${by.userNameKey})`,
    ...(by.externalId === undefined
      ? []
      : [
          sql`exists (select 1 from directory_departed
            where organization_id = ${organizationId} and external_id = ${by.externalId})`,
        ]),
    ...(by.emailKeys.length === 0
      ? []
      : [sql`exists (select 1 from "user" where email_key in (${sql.join(by.emailKeys)}))`]),
  ]
  const { rows } = await sql<{ known: number }>`select
    case when ${sql.join(known, sql` or `)} then 1 else 0 end as known`.execute(tx.query)
  return rows[0]?.known === 0
}

/** Adds a person, a viewer's membership and the directory's user; undefined if the user name is taken. */
export async function insert(
  tx: Transaction,
  newcomer: Newcomer,
): Promise<DirectoryUserRecord | undefined> {
  if (tx.engine === 'postgres') return await insertAtOnce(tx, newcomer)
  const { id, organizationId, userId, name, email, data } = newcomer
  await insertPerson(tx, { id: userId, name, email })
  await insertMembership(tx, {
    id,
    organizationId,
    userId,
    role: 'viewer',
    source: 'directory',
    deactivatedAt: newcomer.active ? undefined : tx.now,
  })
  return await insertUser(tx, { id, organizationId, userId, data })
}

/** One statement: the directory's row is locked from here to the commit, and everybody else who adds a user waits. */
async function insertAtOnce(
  tx: Transaction,
  newcomer: Newcomer,
): Promise<DirectoryUserRecord | undefined> {
  const { id, organizationId, userId, name, email, data } = newcomer
  const at = sql`cast(${tx.now} as bigint)`
  const emails = data.emailKeys.map((key) => sql`(${organizationId}, ${key}, ${id})`)
  const { rows } = await sql<{ position: number }>`
    with place as (
      update directory set next_position = next_position + 1
      where organization_id = ${organizationId} returning next_position - 1 as position
    ),
    person as (
      insert into "user" (id, name, email, email_key, created_at, version) values (${userId}, ${name},
        ${email ?? null}, ${email === undefined ? null : emailKey(email)}, ${at}, 1)
    ),
    member as (
      insert into membership
        (id, organization_id, user_id, role, source, created_at, deactivated_at, version)
      values (${id}, ${organizationId}, ${userId}, 'viewer', 'directory', ${at},
        ${newcomer.active ? null : tx.now}, 1)
    ),
    counted as (
      insert into directory_count (organization_id, kind, bucket, amount)
      select ${organizationId}, 'user', position / ${sql.lit(bucketSize)}, 1 from place
      on conflict (organization_id, kind, bucket)
      do update set amount = directory_count.amount + 1
    )${
      emails.length === 0
        ? sql``
        : sql`, mails as (
      insert into directory_email (organization_id, value_key, directory_user_id)
      values ${sql.join(emails)} on conflict do nothing
    )`
    }
    insert into directory_user (id, organization_id, user_id, position, user_name_key, external_id,
      active, attributes, folded, version, created_at, modified_at)
    select ${id}, ${organizationId}, ${userId}, position, ${data.userNameKey},
      ${data.externalId ?? null}, ${sql.lit(data.active ? 1 : 0)}, ${data.attributes},
      cast(${data.folded} as jsonb), 1, ${at}, ${at}
    from place
    on conflict (organization_id, user_name_key) do nothing
    returning position`.execute(tx.query)
  const [place] = rows
  if (place === undefined) return undefined
  return {
    id,
    organizationId,
    userId,
    position: place.position,
    userNameKey: data.userNameKey,
    externalId: data.externalId,
    active: data.active,
    attributes: data.attributes,
    version: 1,
    createdAt: tx.now,
    modifiedAt: tx.now,
  }
}
