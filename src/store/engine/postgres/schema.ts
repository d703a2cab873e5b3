import pg from 'pg'
import { connectTimeoutMs } from './pool.ts'

const statementTimeoutMs = 5000

/** Whether Intercept has already created its tables in a database. */
export async function hasSchema(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs * 2,
  })
  try {
    await client.connect()
    const { rows } = await client.query<{ found: boolean }>(
      "select to_regclass('migration') is not null as found",
    )
    return rows[0]?.found === true
  } finally {
    await client.end().catch(() => undefined)
  }
}
