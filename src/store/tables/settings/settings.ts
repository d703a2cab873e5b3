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

/** Stores a value under a name, replacing any previous one. */
export async function set(tx: Tx, name: string, value: string): Promise<void> {
  await tx.query
    .insertInto('setting')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
