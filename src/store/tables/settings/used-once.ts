import type { Tx } from '../../db/db.ts'

export interface UsedOnceTable {
  digest: string
  expires_at: number
}

/** Marks something that may be used only once as used; false if any node has already done so. */
export async function use(tx: Tx, digest: string, expiresAt: number): Promise<boolean> {
  const result = await tx.query
    .insertInto('used_once')
    .values({ digest, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function forget(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('used_once').where('expires_at', '<', before).execute()
}
