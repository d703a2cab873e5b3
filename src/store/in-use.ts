import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Whether the SQLite file, or our schema in PostgreSQL, already exists; checking creates neither. */
export async function isInUse(place: {
  readonly databaseUrl: string | undefined
  readonly folder: string
}): Promise<boolean> {
  if (!place.databaseUrl) return existsSync(join(place.folder, 'intercept.db'))
  const { hasSchema } = await import('./engine/postgres/schema.ts')
  return await hasSchema(place.databaseUrl)
}
