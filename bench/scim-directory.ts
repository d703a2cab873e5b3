// A directory of many users for the SCIM benchmark, seeded by SQL before the server starts, on either engine.
import Database from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { postgresForTests } from '../test/harness/postgres.ts'
import { intercept } from '../test/harness/terminal.ts'

export interface BenchDirectory extends AsyncDisposable {
  readonly env: Record<string, string>
  readonly secret: string
  readonly organization: string
  /** Runs a statement with `?` parameters directly on the engine; the store cannot be faster than this. */
  rows(text: string, parameters: readonly (string | number)[]): Promise<unknown[]>
  fillGroup(groupId: string, amount: number): Promise<void>
}

export function memberId(n: number): string {
  return `mem_seed${String(n).padStart(18, '0')}`
}

/** Creates an organization with this many users and a SCIM token. */
export async function seededDirectory(
  engine: 'sqlite' | 'postgres',
  users: number,
): Promise<BenchDirectory> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-'))
  const database = engine === 'postgres' ? await postgresForTests() : undefined
  const env = {
    DATA_DIR: folder,
    LIMIT_SCIM: 'off',
    ...(database === undefined ? {} : { DATABASE_URL: database.url }),
  }
  await say(['org', 'create', 'acme', '--plan', 'enterprise'])
  const { secret = '' } = await say(['scim', 'token', 'issue', 'acme'])
  const file =
    database === undefined
      ? new Database(join(folder, 'intercept.db'), { timeout: 5000 })
      : undefined
  const client = database && new pg.Client({ connectionString: database.url })
  await client?.connect()
  const statements = new Map<string, Database.Statement>()
  const rows: BenchDirectory['rows'] = async (text, parameters) => {
    if (client === undefined) return prepared(text).all(...parameters)
    let n = 0
    const numbered = text.replaceAll('?', () => `$${++n}`)
    // PostgreSQL parses a named statement only once, so these plain statements are as fast as the database allows.
    const name = createHash('sha256').update(text).digest('base64')
    return (await client.query({ name, text: numbered, values: [...parameters] })).rows
  }
  const [found] = await rows("select id from organization where slug = 'acme'", [])
  const organization = (found as { id: string }).id
  for (const text of seedStatements(engine, organization, users)) await run(text)
  // Autovacuum would do this within a minute. On SQLite nothing is analyzed, because the product does not do it either.
  if (client !== undefined) await run('vacuum analyze')
  file?.pragma('wal_checkpoint(truncate)')
  return {
    env,
    secret,
    organization,
    rows,
    fillGroup: async (groupId, amount) => {
      const id = memberIdSql(engine)
      await run(`insert into directory_member (group_id, directory_user_id, organization_id)
        ${numbers(0, amount)} select '${groupId}', ${id}, '${organization}' from number`)
      await run(`update directory_group set members = ${amount} where id = '${groupId}'`)
    },
    [Symbol.asyncDispose]: async () => {
      file?.close()
      await client?.end()
      await database?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }

  function prepared(text: string): Database.Statement {
    const known = statements.get(text) ?? file?.prepare(text)
    if (known === undefined) throw new Error('there is no file')
    statements.set(text, known)
    return known
  }

  async function run(text: string): Promise<void> {
    if (client === undefined) file?.exec(text)
    else await client.query(text)
  }

  async function say(words: readonly string[]): Promise<Record<string, string>> {
    const { code, out, err } = await intercept([...words, '--json'], { env })
    if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
    return JSON.parse(out) as Record<string, string>
  }
}

const atOnce = 50_000

function* seedStatements(
  engine: 'sqlite' | 'postgres',
  organization: string,
  users: number,
): Generator<string> {
  const at = Date.now()
  const id = memberIdSql(engine)
  const parts = (userName: string, active: string): string =>
    `'{"userName":"${userName}' || n || '@acme.test","externalId":"ext-' || n || '","name":{"givenName":"User","familyName":"' || n ||
     '"},"emails":[{"value":"user' || n || '@mail.test","type":"work","primary":${active}}],"active":${active}}'`
  const json = engine === 'postgres' ? '::jsonb' : ''
  for (let from = 0; from < users; from += atOnce) {
    const upTo = Math.min(users, from + atOnce)
    const insert = (table: string, columns: string, values: string): string =>
      `insert into ${table} (${columns}) ${numbers(from, upTo)} select ${values} from number`
    yield insert(
      '"user"',
      'id, name, email, email_key, created_at',
      `'usr_seed' || n, 'User ' || n, 'user' || n || '@mail.test', 'user' || n || '@mail.test', ${at}`,
    )
    yield insert(
      'membership',
      'id, organization_id, user_id, role, source, created_at',
      `${id}, '${organization}', 'usr_seed' || n, 'viewer', 'directory', ${at}`,
    )
    yield insert(
      'directory_user',
      'id, organization_id, user_id, position, user_name_key, external_id, active, attributes, folded, created_at, modified_at',
      `${id}, '${organization}', 'usr_seed' || n, n + 1, 'user' || n || '@acme.test', 'ext-' || n, 1,
       ${parts('User', 'true')}, (${parts('user', '1')})${json}, ${at}, ${at}`,
    )
    yield insert(
      'directory_email',
      'organization_id, value_key, directory_user_id',
      `'${organization}', 'user' || n || '@mail.test', ${id}`,
    )
  }
  yield `insert into directory_count (organization_id, kind, bucket, amount)
    select organization_id, 'user', position / 1000, count(*) from directory_user group by 1, 2, 3`
  yield `update directory set next_position = ${users + 1} where organization_id = '${organization}'`
}

function numbers(from: number, upTo: number): string {
  return `with recursive number(n) as (select ${from} union all select n + 1 from number where n < ${upTo - 1})`
}

function memberIdSql(engine: 'sqlite' | 'postgres'): string {
  const padded = engine === 'sqlite' ? "printf('%018d', n)" : "lpad(n::text, 18, '0')"
  return `'mem_seed' || ${padded}`
}
