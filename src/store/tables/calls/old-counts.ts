import { sql, type RawBuilder } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'

/** Tables of counts whose old rows nothing reads any more: the use of quotas by period, and of rules by day. */
export type CountsBySubject = keyof typeof layouts

const layouts = {
  quota_use: { subject: 'subject_id', at: 'period_at' },
  rule_day: { subject: 'rule_id', at: 'day_at' },
} as const

export interface CountKey {
  readonly organizationId: string
  readonly subjectId: string
  readonly at: number
}

/** Finds up to `limit` counts from before a given time. May read the whole table, so use a connection for slow reads. */
export async function findOld(
  db: Db,
  table: CountsBySubject,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<CountKey[]> {
  const { subject, at } = layouts[table]
  const { rows } = await sql<CountKey>`
    select organization_id as "organizationId", ${sql.ref(subject)} as "subjectId", ${sql.ref(at)} as at
    from ${sql.table(table)} where ${sql.ref(at)} < ${before} limit ${sql.lit(limit)}`.execute(
    db.query,
  )
  return rows
}

export async function remove(
  tx: Tx,
  table: CountsBySubject,
  keys: readonly CountKey[],
): Promise<void> {
  if (keys.length === 0) return
  const { subject, at } = layouts[table]
  const values: RawBuilder<unknown>[] = keys.map(
    (key) => sql`(${key.organizationId}, ${key.subjectId}, cast(${key.at} as bigint))`,
  )
  await sql`delete from ${sql.table(table)}
    where (organization_id, ${sql.ref(subject)}, ${sql.ref(at)}) in (values ${sql.join(values)})`.execute(
    tx.query,
  )
}
