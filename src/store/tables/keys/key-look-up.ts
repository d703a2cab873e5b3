import { CompiledQuery, sql } from 'kysely'
import type { KeyId, OrganizationId } from '../../../ids.ts'
import type { Rate } from '../../../rate.ts'
import type { Db } from '../../db/db.ts'
import { secretFromRow, type KeySecretRecord } from './key-secrets.ts'
import { fromRow, type Grant, type KeyRecord, type Quota, type Scheme } from './keys.ts'

/** A key, the secret by which it was found, and its organization's slug. */
export interface FoundKey {
  readonly key: KeyRecord
  readonly secret: KeySecretRecord
  readonly organizationSlug: string
}

/** What a call needs to know about a secret's key and organization. */
export interface FoundCaller {
  readonly keyId: KeyId
  readonly organizationId: OrganizationId
  readonly organizationSlug: string
  /** JSON text, so that all keys of an organization can share one parsed copy. */
  readonly organizationSettings: string
  /** A `KeySharedPart` as JSON text; keys with the same values have the same text. `readSharedPart` parses it. */
  readonly shared: string
  /** When the key or the secret expires, whichever comes first. */
  readonly expiresAt: number | undefined
}

/** What a call needs to know about a key and its secret, without the values that are unique to the key. */
export interface KeySharedPart {
  readonly scheme: Scheme
  readonly isOldSecret: boolean
  readonly isRevoked: boolean
  readonly grants: readonly Grant[] | undefined
  readonly cidrs: readonly string[] | undefined
  readonly rateLimit: Rate | undefined
  readonly quota: Quota | undefined
}

/** Like `findByDigest`, but reads only what a call needs. */
export async function findCaller(db: Db, digest: string): Promise<FoundCaller | undefined> {
  const row = await callers(db, digest)
  if (!row) return undefined
  return {
    keyId: row.id as KeyId,
    organizationId: row.organization_id as OrganizationId,
    organizationSlug: row.slug,
    organizationSettings: row.settings,
    shared: row.shared,
    expiresAt: earlier(row.expires_at ?? undefined, row.valid_until ?? undefined),
  }
}

/** Parses the text of a shared part: an array in the order of the query's columns. */
export function readSharedPart(shared: string): KeySharedPart {
  const [scheme, isOldSecret, isRevoked, ...limits] = JSON.parse(shared) as [
    Scheme,
    number,
    number,
    ...(string | null)[],
  ]
  const [grants, cidrs, rateLimit, quota] = limits.map((text) =>
    text === null ? undefined : (JSON.parse(text) as unknown),
  )
  // Nothing is checked here, because these values were validated before they were written.
  const read = { grants, cidrs, rateLimit, quota } as KeySharedPart
  return { ...read, scheme, isOldSecret: isOldSecret === 1, isRevoked: isRevoked !== 0 }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

const callers = compiledOnce(callerLookUp)

// Seven values are read as one column of JSON, because each column costs more in the driver than JSON costs in SQLite.
function callerLookUp(db: Db, digest: string) {
  const parts = sql`api_key.scheme,
    case when key_secret.valid_until is null then 0 else 1 end,
    case when api_key.revoked_at is null and api_key.suspended_at is null then 0 else 1 end,
    api_key.grants, api_key.cidrs, api_key.rate_limit, api_key.quota`
  const shared =
    db.engine === 'sqlite'
      ? sql<string>`json_array(${parts})`
      : sql<string>`json_build_array(${parts})::text`
  return db.query
    .selectFrom('key_secret')
    .innerJoin('api_key', 'api_key.id', 'key_secret.key_id')
    .innerJoin('organization', 'organization.id', 'api_key.organization_id')
    .select(['api_key.id', 'api_key.organization_id', 'api_key.expires_at'])
    .select(['key_secret.valid_until', 'organization.slug', 'organization.settings'])
    .select(shared.as('shared'))
    .where('key_secret.digest', '=', digest)
    .where('organization.deleted_at', 'is', null)
}

/**
 * Finds the key and secret for a digest, whatever their state, unless their organization is deleted. A caller that
 * presents a secret has not named its organization, so this look-up needs none.
 */
export async function findByDigest(db: Db, digest: string): Promise<FoundKey | undefined> {
  const row = await keys(db, digest)
  if (!row) return undefined
  return {
    key: fromRow(row),
    organizationSlug: row.organization_slug,
    secret: secretFromRow({
      digest: row.digest,
      lookup: row.lookup,
      hint: row.hint,
      created_at: row.secret_created_at,
      valid_until: row.valid_until,
      last_used_at: row.secret_last_used_at,
      last_used_address: row.secret_last_used_address,
      last_used_agent: row.secret_last_used_agent,
    }),
  }
}

const keys = compiledOnce(lookUp)

function lookUp(db: Db, digest: string) {
  return db.query
    .selectFrom('key_secret')
    .innerJoin('api_key', 'api_key.id', 'key_secret.key_id')
    .innerJoin('organization', 'organization.id', 'api_key.organization_id')
    .selectAll('api_key')
    .select([
      'organization.slug as organization_slug',
      'key_secret.digest',
      'key_secret.lookup',
      'key_secret.hint',
      'key_secret.created_at as secret_created_at',
      'key_secret.valid_until',
      'key_secret.last_used_at as secret_last_used_at',
      'key_secret.last_used_address as secret_last_used_address',
      'key_secret.last_used_agent as secret_last_used_agent',
    ])
    .where('key_secret.digest', '=', digest)
    .where('organization.deleted_at', 'is', null)
}

interface LookUp<Row> {
  compile(): CompiledQuery
  executeTakeFirst(): Promise<Row>
}

/**
 * Returns a function that runs a query for a digest. The query is compiled once per engine, because compiling costs
 * more than running it.
 */
function compiledOnce<Row>(query: (db: Db, digest: string) => LookUp<Row>) {
  const texts = new Map<Db['engine'], string>()
  return async (db: Db, digest: string): Promise<Row | undefined> => {
    let text = texts.get(db.engine)
    if (text === undefined) {
      text = query(db, '').compile().sql
      texts.set(db.engine, text)
    }
    const { rows } = await db.query.executeQuery(CompiledQuery.raw(text, [digest]))
    // The text was compiled from a query that returns such rows.
    return (rows as Row[])[0]
  }
}
