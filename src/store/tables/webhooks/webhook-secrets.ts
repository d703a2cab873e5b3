import type { Db, Tx } from '../../db/db.ts'

export interface WebhookSecretTable {
  id: string
  organization_id: string
  sealed: string
  hint: string
  created_at: number
  valid_until: number | null
}

/** An organization's signing secret, sealed; without an end it is the current one. */
export interface WebhookSecretRecord {
  readonly id: string
  readonly organizationId: string
  readonly sealed: string
  readonly hint: string
  readonly createdAt: number
  readonly validUntil: number | undefined
}

/** What a secret is sealed for: it opens in no other row. */
export function sealContext(organizationId: string, id: string): readonly string[] {
  return [organizationId, id, 'webhook_secret']
}

/** Adds the new current secret. */
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

/** Gives every current and overlapping secret an end that is not later than this. */
export async function end(tx: Tx, organizationId: string, at: number): Promise<void> {
  await tx.query
    .updateTable('webhook_secret')
    .set({ valid_until: at })
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('valid_until', 'is', null), eb('valid_until', '>', at)]))
    .execute()
}

/** Ends the overlap of older secrets; the current one stays. */
export async function endOlder(tx: Tx, organizationId: string, at: number): Promise<void> {
  await tx.query
    .updateTable('webhook_secret')
    .set({ valid_until: at })
    .where('organization_id', '=', organizationId)
    .where('valid_until', '>', at)
    .execute()
}

/** The secrets that are valid at a time, newest first. */
export async function listValid(
  db: Db,
  organizationId: string,
  now: number,
): Promise<WebhookSecretRecord[]> {
  const rows = await db.query
    .selectFrom('webhook_secret')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('valid_until', 'is', null), eb('valid_until', '>', now)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    sealed: row.sealed,
    hint: row.hint,
    createdAt: row.created_at,
    validUntil: row.valid_until ?? undefined,
  }))
}

/** Removes secrets whose overlap ended before a time. */
export async function removeEnded(tx: Tx, endedBefore: number): Promise<void> {
  await tx.query.deleteFrom('webhook_secret').where('valid_until', '<', endedBefore).execute()
}
