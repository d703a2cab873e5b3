import type { Db, Tx } from '../../db/db.ts'

export interface SettingTable {
  name: string
  value: string
}

/** Finds the value that is stored under a name. */
export async function find(db: Db, name: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('setting')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.value
}

/**
 * Stores a value under a name if its value is still `before` (undefined if it had none); returns whether it was. Of
 * several transactions that do so at once, one succeeds.
 */
export async function swap(
  tx: Tx,
  { name, before, value }: { name: string; before: string | undefined; value: string },
): Promise<boolean> {
  if (before === undefined) {
    const { numInsertedOrUpdatedRows } = await tx.query
      .insertInto('setting')
      .values({ name, value })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    return Number(numInsertedOrUpdatedRows) > 0
  }
  const { numUpdatedRows } = await tx.query
    .updateTable('setting')
    .set({ value })
    .where('name', '=', name)
    .where('value', '=', before)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows) > 0
}

/** Stores a value under a name, replacing any previous one. */
export async function set(tx: Tx, name: string, value: string): Promise<void> {
  await tx.query
    .insertInto('setting')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
