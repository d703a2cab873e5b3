import type { Db, Tx } from '../../db/db.ts'

export interface SigningKeyTable {
  id: string
  public_jwk: string
  private_sealed: string
  created_at: number
  retired_at: number | null
}

/** One of Intercept's own key pairs; `id` is the JWK's `kid`. */
export interface SigningKeyRecord {
  readonly id: string
  readonly publicJwk: string
  readonly privateSealed: string
  readonly createdAt: number
  readonly retiredAt: number | undefined
}

/** Lists all key pairs, newest first. */
export async function list(db: Db): Promise<SigningKeyRecord[]> {
  const rows = await db.query
    .selectFrom('signing_key')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    publicJwk: row.public_jwk,
    privateSealed: row.private_sealed,
    createdAt: row.created_at,
    retiredAt: row.retired_at ?? undefined,
  }))
}

export async function insert(
  tx: Tx,
  key: { id: string; publicJwk: string; privateSealed: string },
): Promise<void> {
  await tx.query
    .insertInto('signing_key')
    .values({
      id: key.id,
      public_jwk: key.publicJwk,
      private_sealed: key.privateSealed,
      created_at: tx.now,
      retired_at: null,
    })
    .execute()
}

/** Marks all other key pairs as retired: they no longer sign, but stay published until they are deleted. */
export async function retireOthers(tx: Tx, newestId: string): Promise<void> {
  await tx.query
    .updateTable('signing_key')
    .set({ retired_at: tx.now })
    .where('id', '!=', newestId)
    .where('retired_at', 'is', null)
    .execute()
}

export async function deleteRetired(tx: Tx, retiredBefore: number): Promise<void> {
  await tx.query.deleteFrom('signing_key').where('retired_at', '<', retiredBefore).execute()
}
