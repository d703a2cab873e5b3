import { CompiledQuery } from 'kysely'
import type { Db } from '../../db/db.ts'
import { secretFromRow, type KeySecretRecord } from './key-secrets.ts'
import { fromRow, type KeyRecord } from './keys.ts'

/** A key, the secret that found it, and its organization's settings for all keys. */
export interface FoundKey {
  readonly key: KeyRecord
  readonly secret: KeySecretRecord
  readonly organizationSlug: string
  /** Kept as JSON text, so that an organization's keys can share one parsed copy. */
  readonly organizationSettings: string
}

/**
 * Finds the key and secret for a digest, whatever their state. The organization is not known yet, so this look-up needs
 * none.
 */
export async function findByDigest(db: Db, digest: string): Promise<FoundKey | undefined> {
  let text = lookUpTexts.get(db.engine)
  if (text === undefined) {
    text = lookUp(db, '').compile().sql
    lookUpTexts.set(db.engine, text)
  }
  type Row = Awaited<ReturnType<ReturnType<typeof lookUp>['executeTakeFirst']>>
  const { rows } = await db.query.executeQuery(CompiledQuery.raw(text, [digest]))
  // The text was compiled from the query that has this type.
  const [row] = rows as Row[]
  if (!row) return undefined
  return {
    key: fromRow(row),
    organizationSlug: row.organization_slug,
    organizationSettings: row.organization_settings,
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

// Compiled once: compiling the query would cost more than running it.
const lookUpTexts = new Map<Db['engine'], string>()

function lookUp(db: Db, digest: string) {
  return db.query
    .selectFrom('key_secret')
    .innerJoin('api_key', 'api_key.id', 'key_secret.key_id')
    .innerJoin('organization', 'organization.id', 'api_key.organization_id')
    .selectAll('api_key')
    .select([
      'organization.slug as organization_slug',
      'organization.settings as organization_settings',
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
