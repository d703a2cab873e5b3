// MACs for both ends of an audit chain, made with the master key: someone who can write to the database but lacks that
// key can't give a chain another end without being noticed. Putting back an earlier state as a whole is not noticed.
import type { Db, Tx } from '../../db/db.ts'
import * as settings from '../settings/settings.ts'

/** A position in a chain: an entry's sequence number and hash. */
export interface ChainPlace {
  readonly sequence: number
  readonly hash: string
}

// This migration inserts the first head, which belongs to the chain of entries that concern no organization.
const firstMigration = '0001-core.sql'

/** Returns the values that a head's MAC covers. */
export function headParts(organizationId: string, { sequence, hash }: ChainPlace) {
  return ['audit head', organizationId, sequence, hash] as const
}

/** Returns the values that an anchor's MAC covers. */
export function anchorParts(organizationId: string, { sequence, hash }: ChainPlace) {
  return ['audit anchor', organizationId, sequence, hash] as const
}

/** Returns a MAC over these values, or `unsealed` if there is no master key. */
export function sealOf(db: Db, parts: readonly (string | number)[]): string {
  return db.authenticator?.authenticate(parts) ?? 'unsealed'
}

/** Whether a MAC is valid; without the master key it can't be checked and counts as valid. */
export function sealHolds(db: Db, seal: string, parts: readonly (string | number)[]): boolean {
  return db.authenticator?.isAuthentic(seal, parts) ?? true
}

/** Returns the name of the setting that stores an organization's anchor. */
export function anchorName(organizationId: string): string {
  return `${anchorPrefix}${organizationId}`
}

const anchorPrefix = 'audit_begins_after '

/**
 * Seals the head that the first migration inserts, in that migration's transaction and at no other time: a head found
 * unsealed later was written by someone without the master key.
 */
export async function sealAfterMigration(tx: Tx, applied: readonly string[]): Promise<void> {
  if (applied.includes(firstMigration)) await sealEach(tx, () => true)
}

/**
 * Computes new MACs for the heads and anchors whose MAC was made with an older master key, except where that MAC is
 * invalid; returns how many it computed.
 */
export async function sealAgain(tx: Tx): Promise<number> {
  return await sealEach(
    tx,
    (seal, parts) => tx.authenticator?.isOld(seal) === true && sealHolds(tx, seal, parts),
  )
}

/** Counts the heads and anchors sealed under each master key. */
export async function countByKey(db: Db): Promise<{ keyId: string; count: number }[]> {
  const heads = await db.query.selectFrom('organization_head').select('audit_seal').execute()
  const anchors = await listAnchors(db)
  const counts = new Map<string, number>()
  for (const seal of [...heads.map((head) => head.audit_seal), ...anchors.map((one) => one.seal)]) {
    const [, keyId] = seal.split('.')
    if (keyId !== undefined) counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
  }
  return [...counts].map(([keyId, count]) => ({ keyId, count }))
}

async function sealEach(
  tx: Tx,
  isDue: (seal: string, parts: readonly (string | number)[]) => boolean,
): Promise<number> {
  let done = 0
  const heads = await tx.query
    .selectFrom('organization_head')
    .select(['organization_id', 'audit_sequence', 'audit_hash', 'audit_seal'])
    .execute()
  for (const head of heads) {
    const place = { sequence: head.audit_sequence, hash: head.audit_hash }
    const parts = headParts(head.organization_id, place)
    if (!isDue(head.audit_seal, parts)) continue
    // A head that was written in the meantime already has a new MAC.
    const { numUpdatedRows } = await tx.query
      .updateTable('organization_head')
      .set({ audit_seal: sealOf(tx, parts) })
      .where('organization_id', '=', head.organization_id)
      .where('audit_sequence', '=', head.audit_sequence)
      .where('audit_hash', '=', head.audit_hash)
      .executeTakeFirstOrThrow()
    done += Number(numUpdatedRows)
  }
  for (const { organizationId, seal, ...place } of await listAnchors(tx)) {
    const parts = anchorParts(organizationId, place)
    if (!isDue(seal, parts)) continue
    const sealed = { ...place, seal: sealOf(tx, parts) }
    await settings.set(tx, anchorName(organizationId), JSON.stringify(sealed))
    done += 1
  }
  return done
}

async function listAnchors(
  db: Db,
): Promise<(ChainPlace & { organizationId: string; seal: string })[]> {
  const rows = await db.query
    .selectFrom('setting')
    .selectAll()
    .where('name', 'like', `${anchorPrefix}%`)
    .execute()
  return rows.map(({ name, value }) => ({
    ...readAnchor(value),
    organizationId: name.slice(anchorPrefix.length),
  }))
}

/** Parses a stored anchor; one from before anchors were sealed counts as `unsealed`. */
export function readAnchor(value: string): ChainPlace & { seal: string } {
  return { seal: 'unsealed', ...(JSON.parse(value) as ChainPlace & { seal?: string }) }
}
