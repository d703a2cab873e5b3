import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/clock.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { engines } from '../harness/store.ts'
import { intercept } from '../harness/terminal.ts'

const page = join(import.meta.dirname, '..', '..', 'docs', 'operate', 'personal-data.md')
/** Tables whose rows stay until their retention period ends, as the page says. */
const endsByItself = new Set(['audit_entry', 'event'])

interface Person {
  readonly id: string
  readonly user_id: string
}

for (const engine of engines) {
  test(`what operate/personal-data deletes leaves no name and no address of the person on ${engine}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-personal-'))
    t.after(() => rmSync(folder, { recursive: true }))
    await using database = engine === 'postgres' ? await postgresForTests() : undefined
    const secret = randomBytes(32).toString('base64')
    const databaseUrl = database?.url
    const env = {
      ...{ DATA_DIR: folder, INTERCEPT_SECRET: secret },
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    }
    await using store = await openStore({
      ...{ databaseUrl, folder, clock: systemClock, isNode: true, poolSize: 4 },
      authenticator: createSealer([secret]),
    })
    const run = async (...words: string[]): Promise<string> => {
      const { code, out, err } = await intercept(words, { env })
      assert.equal(code, 0, err)
      return out
    }
    await run('org', 'create', 'acme')
    const added = ['acme', 'ada@example.com', '--role', 'admin', '--name', 'Ada Lovelace']
    const ada = JSON.parse(await run('member', 'add', ...added, '--json')) as Person
    const bob = ['acme', 'bob@example.com', '--role', 'owner', '--name', 'Bob']
    await run('member', 'add', ...bob)
    await leaveTraces(store, ada)
    assert.deepEqual(await tracesIn(store), [
      'access_token',
      'api_key',
      'connection_test',
      'directory_request',
      'identity',
      'invitation',
      'key_secret',
      'operation',
      'user',
    ])

    await execute(store, statementsOf(ada))
    assert.ok((await tracesIn(store)).includes('user'), 'a member is not emptied')
    await run('member', 'remove', 'acme', 'ada@example.com')
    await execute(store, statementsOf(ada))
    assert.deepEqual(await tracesIn(store), [])
    assert.match(await run('member', 'list', 'acme'), /bob@example\.com/)
    assert.match(await run('audit', 'verify'), /acme/)
  })
}

/** Reads the page's statements and fills in the person's ids; leaves out `begin` and `commit`. */
function statementsOf({ id: memberId, user_id: userId }: Person): string[] {
  const [, block = ''] = /^```sql\n([\s\S]*?)^```$/m.exec(readFileSync(page, 'utf8')) ?? []
  const statements = block.split(/;\n/).filter((text) => text.trim() !== '')
  assert.deepEqual([statements[0], statements.at(-1)], ['begin', 'commit'])
  return statements
    .slice(1, -1)
    .map((text) => text.replaceAll('usr_…', userId).replaceAll('mem_…', memberId))
}

async function execute(store: Store, statements: readonly string[]): Promise<void> {
  await store.transaction(async (tx) => {
    for (const statement of statements) await sql.raw(statement).execute(tx.query)
  })
}

/**
 * Inserts the rows that a person leaves by signing in, being invited, being in a directory, testing a connection, using
 * keys and access tokens, and starting a replay.
 */
async function leaveTraces(store: Store, { id, user_id: userId }: Person): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from organization`.execute(store.query)
  const org = rows[0]?.id ?? ''
  await execute(store, [
    `insert into identity (id, user_id, provider, issuer, subject, email, name, created_at)
     values ('idn_1', '${userId}', 'github', 'https://github.com', '7', 'ada@example.com', 'Ada Lovelace', 1)`,
    `insert into invitation (id, organization_id, email, email_key, role, digest, created_at, expires_at)
     values ('inv_1', '${org}', 'Ada@Example.com', 'ada@example.com', 'admin', 'd', 1, 2)`,
    `insert into connection (id, organization_id, name, kind, issuer, client_id, credential_kind, credential_sealed, settings, created_at)
     values ('con_1', '${org}', 'Okta', 'okta', 'https://idp.example', 'c', 'secret', 's', '{}', 1)`,
    `insert into connection_test (id, connection_id, organization_id, user_id, created_at, result)
     values ('tst_1', 'con_1', '${org}', '${userId}', 1, '{"name":"Ada Lovelace"}')`,
    `insert into directory_departed (organization_id, external_id, directory_user_id, user_id, departed_at)
     values ('${org}', '00u1', 'mem_1', '${userId}', 1)`,
    `insert into directory_request (organization_id, id, token_id, at, method, path, status, sent, duration_us)
     values ('${org}', 'dr_1', 'tok_1', 1, 'POST', '/scim/v2/Users', 201, '{"userName":"Ada@example.com"}', 1),
            ('${org}', 'dr_2', 'tok_1', 1, 'GET', '/scim/v2/Users?filter=userName+eq+%22ada%40example.com%22', 200, null, 1)`,
    // Requests that contain the person's name, but not their address.
    `insert into directory_request (organization_id, id, token_id, at, method, path, status, sent, duration_us, resource_id)
     values ('${org}', 'dr_3', 'tok_1', 1, 'PATCH', '/Users/${id}', 200, '{"displayName":"Ada Lovelace"}', 1, '${id}'),
            ('${org}', 'dr_4', 'tok_1', 1, 'PUT', '/Groups/grp_1', 200, '{"members":[{"value":"${id}","display":"Ada Lovelace"}]}', 1, 'grp_1')`,
    `insert into api_key (id, organization_id, name, scheme, created_at, personal_user_id, last_used_agent)
     values ('key_1', '${org}', 'k', 'bearer', 1, '${userId}', 'Ada Lovelace')`,
    `insert into key_secret (digest, key_id, organization_id, lookup, hint, created_at, last_used_agent)
     values ('d', 'key_1', '${org}', 'l', 'h', 1, 'Ada Lovelace')`,
    `insert into access_token (id, organization_id, name, digest, hint, permissions, created_at, creator_user_id, last_used_agent)
     values ('tok_2', '${org}', 't', 'd', 'h', '[]', 1, '${userId}', 'Ada Lovelace')`,
    `insert into operation (id, organization_id, kind, state, parameters, total, created_at, created_by, created_by_name, updated_at)
     values ('op_1', '${org}', 'replay', 'done', '{}', 0, 1, '${userId}', 'Ada Lovelace', 1)`,
  ])
}

/** Lists the tables outside `endsByItself` that contain the person's name or address, in alphabetical order. */
async function tracesIn(store: Store): Promise<string[]> {
  const listed =
    store.engine === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table' order by name`
      : sql<{
          name: string
        }>`select tablename as name from pg_tables where schemaname = 'public' order by 1`
  const found: string[] = []
  for (const { name } of (await listed.execute(store.query)).rows) {
    if (endsByItself.has(name)) continue
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(store.query)
    if (/ada(@|%40)example|Lovelace/i.test(JSON.stringify(rows))) found.push(name)
  }
  return found
}
