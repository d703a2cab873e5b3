import type { Db } from '../../db/db.ts'

interface Subject {
  readonly kind: string
  readonly id: string
}

const places = {
  api_key: { table: 'api_key', name: 'name' },
  access_token: { table: 'access_token', name: 'name' },
  target: { table: 'target', name: 'slug' },
  endpoint: { table: 'endpoint', name: 'url' },
} as const

/**
 * Maps the ids of audit entries' subjects to their current names. Subjects whose kind is not in `places`, or that have
 * no row, are left out.
 */
export async function subjectNames(
  db: Db,
  organizationId: string,
  subjects: readonly Subject[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const [kind, { table, name }] of Object.entries(places)) {
    const ids = [...new Set(subjects.filter((one) => one.kind === kind).map(({ id }) => id))]
    if (ids.length === 0) continue
    const rows = await db.query
      .selectFrom(table)
      .select(['id', `${name} as name`] as never)
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .execute()
    for (const row of rows as readonly { id: string; name: string }[]) names.set(row.id, row.name)
  }
  return names
}
