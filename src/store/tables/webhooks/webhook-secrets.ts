import { currentFirst } from '../../db/current-first.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface WebhookSecretTable {
  id: string
  organization_id: string
  sealed: string
  hint: string
  created_at: number
  valid_until: number | null
}

/** An organization's signing secret, sealed; `validUntil` is undefined for the current one. */
export interface WebhookSecretRecord {
  readonly id: string
  readonly organizationId: string
  readonly sealed: string
  readonly hint: string
  readonly createdAt: number
  readonly validUntil: number | undefined
}

/** Returns the context that a secret is sealed with, so that it can be opened only in its own row. */
export function sealContext(organizationId: string, id: string): readonly string[] {
  return [organizationId, id, 'webhook_secret']
}

export async function insert(
  tx: Tx,
  secret: { id: string; organizationId: string; sealed: string; hint: string },
): Promise<void> {
  await tx.query
    .insertInto('webhook_secret')
    .values({
      id: secret.id,
      organization_id: secret.organizationId,
      sealed: secret.sealed,
      hint: secret.hint,
      created_at: tx.now,
      valid_until: null,
    })
    .execute()
}

/** Makes every valid secret, current and older, end no later than a given time. */
export async function end(tx: Tx, organizationId: string, at: number): Promise<void> {
  await tx.query
    .updateTable('webhook_secret')
    .set({ valid_until: at })
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('valid_until', 'is', null), eb('valid_until', '>', at)]))
    .execute()
}

/** Makes the older secrets end no later than a given time; the current one stays valid. */
export async function endOlder(tx: Tx, organizationId: string, at: number): Promise<void> {
  await tx.query
    .updateTable('webhook_secret')
    .set({ valid_until: at })
    .where('organization_id', '=', organizationId)
    .where('valid_until', '>', at)
    .execute()
}

/** Lists the secrets that are valid at a given time: the current one, then the older ones, newest first. */
export async function listValid(
  db: Db,
  organizationId: string,
  now: number,
): Promise<WebhookSecretRecord[]> {
  const valid = db.query
    .selectFrom('webhook_secret')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('valid_until', 'is', null), eb('valid_until', '>', now)]))
  const rows = await currentFirst(valid).orderBy('id', 'desc').execute()
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    sealed: row.sealed,
    hint: row.hint,
    createdAt: row.created_at,
    validUntil: row.valid_until ?? undefined,
  }))
}

export async function removeEnded(tx: Tx, endedBefore: number): Promise<void> {
  await tx.query.deleteFrom('webhook_secret').where('valid_until', '<', endedBefore).execute()
}
