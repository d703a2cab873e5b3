import type { KeyId, OrganizationId } from '../../../ids.ts'
import { limitLocks } from '../../db/brief-locks.ts'
import { columns, lastUse, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import { currentFirst } from '../../db/current-first.ts'
import type { Db, Tx } from '../../db/db.ts'

const declared = {
  digest: text(),
  lookup: text(),
  hint: text(),
  createdAt: time(),
  /** Undefined for the current secret. */
  validUntil: maybe(time()),
  ...lastUse,
}

const hidden = {
  keyId: text<KeyId>(),
  organizationId: text<OrganizationId>(),
  silentAnnouncedAt: maybe(time()),
}
const { fromRow, toRow } = columns(declared, hidden)

/** A key's secret as stored: its digest and its hint, never the secret itself. */
export type KeySecretRecord = RecordOf<typeof declared>
export type KeySecretTable = TableOf<typeof declared & typeof hidden>

/** For the joins in other files. */
export const secretFromRow = fromRow

export async function insert(
  tx: Tx,
  secret: {
    digest: string
    keyId: KeyId
    organizationId: OrganizationId
    lookup: string
    hint: string
  },
): Promise<void> {
  await tx.query
    .insertInto('key_secret')
    .values(toRow({ ...secret, createdAt: tx.now }))
    .execute()
}

/**
 * Sets when a key's current secret stops being valid (rotation), or makes its older ones stop sooner; returns how many
 * changed.
 */
export async function end(
  tx: Tx,
  {
    organizationId,
    keyId,
    which,
    validUntil,
  }: {
    readonly organizationId: OrganizationId
    readonly keyId: KeyId
    readonly which: 'current' | 'older'
    readonly validUntil: number
  },
): Promise<number> {
  let query = tx.query
    .updateTable('key_secret')
    .set({ valid_until: validUntil })
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
  query =
    which === 'current'
      ? query.where('valid_until', 'is', null)
      : query.where('valid_until', '>', validUntil)
  const result = await query.executeTakeFirst()
  return Number(result.numUpdatedRows)
}

/** Maps the given keys of an organization to their secrets: the current one, then the older ones, newest first. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  keyIds: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, readonly KeySecretRecord[]>> {
  const byKey = new Map<KeyId, KeySecretRecord[]>(keyIds.map((id) => [id, []]))
  if (keyIds.length === 0) return byKey
  const all = db.query
    .selectFrom('key_secret')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('key_id', 'in', keyIds)
  const rows = await currentFirst(all).execute()
  for (const row of rows) byKey.get(row.key_id as KeyId)?.push(fromRow(row))
  return byKey
}

/** The last use of a key's secret. */
export interface KeyUse {
  readonly organizationId: OrganizationId
  readonly keyId: KeyId
  readonly digest: string
  readonly at: number
  readonly address: string
  readonly agent: string | undefined
  readonly targetId: string | undefined
}

/** Records the last uses of keys and their secrets; an older use never overwrites a newer one. */
export async function noteUses(tx: Tx, uses: readonly KeyUse[]): Promise<void> {
  await limitLocks(tx)
  for (const use of uses) {
    const columns = {
      last_used_at: use.at,
      last_used_address: use.address,
      last_used_agent: use.agent ?? null,
    }
    await tx.query
      .updateTable('api_key')
      .set({ ...columns, last_used_target_id: use.targetId ?? null })
      .where('id', '=', use.keyId)
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', use.at)]))
      .execute()
    await tx.query
      .updateTable('key_secret')
      .set(columns)
      .where('digest', '=', use.digest)
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', use.at)]))
      .execute()
  }
}

/** An old secret that is still valid but has not been used for a while. */
export interface SilentSecret {
  readonly organizationId: OrganizationId
  readonly keyId: KeyId
  readonly hint: string
  readonly validUntil: number
  readonly lastUsedAt: number | undefined
}

/**
 * Takes up to `limit` old secrets that are still valid, were replaced before a given time and have not been used since
 * that time or announced before, and marks them as announced.
 */
export async function takeSilent(
  tx: Tx,
  silentSince: number,
  limit: number,
): Promise<SilentSecret[]> {
  const rows = await tx.query
    .updateTable('key_secret')
    .set({ silent_announced_at: tx.now })
    .where('digest', 'in', (eb) =>
      eb
        .selectFrom('key_secret as old')
        .innerJoin('key_secret as current', 'current.key_id', 'old.key_id')
        .select('old.digest')
        .where('old.valid_until', '>', tx.now)
        .where('old.silent_announced_at', 'is', null)
        .where('current.valid_until', 'is', null)
        .where('current.created_at', '<', silentSince)
        .where((or) =>
          or.or([or('old.last_used_at', 'is', null), or('old.last_used_at', '<', silentSince)]),
        )
        .limit(limit),
    )
    .where('silent_announced_at', 'is', null)
    .returning(['organization_id', 'key_id', 'hint', 'valid_until', 'last_used_at'])
    .execute()
  return rows.map((row) => ({
    organizationId: row.organization_id as OrganizationId,
    keyId: row.key_id as KeyId,
    hint: row.hint,
    validUntil: row.valid_until ?? tx.now,
    lastUsedAt: row.last_used_at ?? undefined,
  }))
}
