// npm run bench -- scim [users]: a directory of that size (default 50,000; the bar's is 1,000,000) on SQLite, asked over
// HTTP, beside what the same rows cost when SQLite is asked directly.
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../test/harness/server-process.ts'
import { intercept } from '../test/harness/terminal.ts'
import { cpuSeconds, residentBytes } from './processes.ts'

const users = Number(process.argv[2] ?? 50_000)
const asked = 300
const userUrn = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const env = { DATA_DIR: folder, LIMIT_SCIM: 'off', LOG_LEVEL: 'info' }
await using server = await startServerProcess(env)
await say(['org', 'create', 'acme', '--plan', 'enterprise'])
const { secret } = await say(['scim', 'token', 'issue', 'acme'])
const file = new Database(join(folder, 'intercept.db'))
const { id: organization } = file
  .prepare("select id from organization where slug = 'acme'")
  .get() as {
  id: string
}
const started = performance.now()
seed()
print('seeded', `${users} users in ${((performance.now() - started) / 1000).toFixed(1)} s`)

for (const [name, filter, column] of [
  ['eq on userName', (n: number) => `userName eq "User${n}@acme.test"`, 'user_name_key'],
  ['eq on externalId', (n: number) => `externalId eq "ext-${n}"`, 'external_id'],
  ['eq on e-mail', (n: number) => `emails.value eq "user${n}@mail.test"`, undefined],
] as const) {
  const times = await measure(asked, async () => {
    const found = await get(`/Users?filter=${encodeURIComponent(filter(anyUser()))}`)
    if (found.totalResults !== 1) throw new Error(`${name}: ${JSON.stringify(found)}`)
  })
  const floor = column === undefined ? undefined : floorOf(column)
  print(
    name,
    `${percentiles(times)}  (bar p99 10 ms)${floor === undefined ? '' : `; SQLite alone ${floor}`}`,
  )
}

let cursor = ''
const walk = await measure(Math.min(200, Math.floor(users / 100)), async () => {
  const page = await get(`/Users?count=100&cursor=${encodeURIComponent(cursor)}`)
  cursor = page.nextCursor ?? ''
})
print('page of 100 in a walk by cursor', `${percentiles(walk)}  (bar p99 25 ms)`)
let index = Math.max(1, Math.floor(users / 2))
const middle = await measure(Math.min(100, Math.floor(users / 400)), async () => {
  const page = await get(`/Users?count=100&startIndex=${index}`)
  index += page.itemsPerPage
})
print('page of 100 in a walk by index', `${percentiles(middle)}  (bar p99 25 ms)`)
const [last = 0] = await measure(
  1,
  async () => void (await get(`/Users?count=50&startIndex=${users - 49}`)),
)
print('cold jump to the last page', `${last.toFixed(1)} ms  (bar 150 ms)`)

const before = { cpu: cpuSeconds(server.pid), at: performance.now() }
const made = 2000
let next = 0
const ids: string[] = []
await Promise.all(
  Array.from({ length: 16 }, async () => {
    while (next < made) {
      const n = next++
      const userName = `new${n}@acme.test`
      const user = await send('POST', '/Users', {
        schemas: [userUrn],
        userName,
        externalId: `new-${n}`,
        name: { givenName: 'New', familyName: String(n) },
        emails: [{ value: userName, type: 'work', primary: true }],
      })
      ids.push(user.id)
    }
  }),
)
const seconds = (performance.now() - before.at) / 1000
const cpuMs = ((cpuSeconds(server.pid) - before.cpu) * 1000) / made
print(
  'POST /Users',
  `${Math.round(made / seconds)}/s, ${cpuMs.toFixed(2)} ms CPU each  (bar 800/s, 1 ms)`,
)

const large = Math.min(100_000, users)
const group = await send('POST', '/Groups', { schemas: [groupUrn], displayName: 'Large' })
const insert = file.prepare(
  'insert into directory_member (group_id, directory_user_id, organization_id) values (?, ?, ?)',
)
file.transaction(() => {
  for (let n = 0; n < large; n++) insert.run(group.id, memberId(n), organization)
  file.prepare('update directory_group set members = ? where id = ?').run(large, group.id)
})()
const member = ids[0] ?? ''
let isIn = false
const changes = await measure(100, async () => {
  const op = isIn
    ? { op: 'remove', path: `members[value eq "${member}"]` }
    : { op: 'add', path: 'members', value: [{ value: member }] }
  await send('PATCH', `/Groups/${group.id}`, { schemas: [patchUrn], Operations: [op] })
  isIn = !isIn
})
print(`one member in or out of ${large}`, `${percentiles(changes)}  (bar 5 ms)`)
const many = Array.from({ length: Math.min(10_000, users) }, (_, n) => ({ value: memberId(n) }))
const small = await send('POST', '/Groups', { schemas: [groupUrn], displayName: 'Replaced' })
const [put = 0] = await measure(1, async () => {
  await send('PUT', `/Groups/${small.id}?excludedAttributes=members`, {
    schemas: [groupUrn],
    displayName: 'Replaced',
    members: many,
  })
})
print(`PUT of ${many.length} members`, `${put.toFixed(0)} ms  (bar 1,000 ms)`)
print('memory of the server', `${Math.round(residentBytes(server.pid) / 1e6)} MB`)
file.close()

function seed(): void {
  const add = {
    user: file.prepare(
      'insert into "user" (id, name, email, email_key, created_at) values (?, ?, ?, ?, ?)',
    ),
    membership: file.prepare(
      "insert into membership (id, organization_id, user_id, role, source, created_at) values (?, ?, ?, 'viewer', 'directory', ?)",
    ),
    directoryUser: file.prepare(
      'insert into directory_user (id, organization_id, user_id, position, user_name_key, external_id, active, attributes, folded, created_at, modified_at) values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)',
    ),
    email: file.prepare(
      'insert into directory_email (organization_id, value_key, directory_user_id) values (?, ?, ?)',
    ),
    count: file.prepare(
      "insert into directory_count (organization_id, kind, bucket, amount) values (?, 'user', ?, 1) on conflict do update set amount = amount + 1",
    ),
  }
  const at = Date.now()
  for (let from = 0; from < users; from += 20_000) {
    file.transaction(() => {
      for (let n = from; n < Math.min(users, from + 20_000); n++) {
        const [name, mail] = [`User${n}@acme.test`, `user${n}@mail.test`]
        const attributes = {
          userName: name,
          externalId: `ext-${n}`,
          name: { givenName: 'User', familyName: String(n) },
          emails: [{ value: mail, type: 'work', primary: true }],
          active: true,
        }
        const folded = { ...attributes, userName: name.toLowerCase(), active: 1 }
        add.user.run(`usr_seed${n}`, name, mail, mail, at)
        add.membership.run(memberId(n), organization, `usr_seed${n}`, at)
        const json = [JSON.stringify(attributes), JSON.stringify(folded)] as const
        const position = n + 1
        add.directoryUser.run(
          ...[memberId(n), organization, `usr_seed${n}`, position, name.toLowerCase()],
          ...[`ext-${n}`, ...json, at, at],
        )
        add.email.run(organization, mail, memberId(n))
        add.count.run(organization, Math.floor(position / 1000))
      }
    })()
  }
  file
    .prepare('update directory set next_position = ? where organization_id = ?')
    .run(users + 1, organization)
}

/** What the look-up costs when SQLite is asked directly. */
function floorOf(column: string): string {
  const query = file.prepare(
    `select attributes from directory_user where organization_id = ? and ${column} = ?`,
  )
  const times = Array.from({ length: asked }, () => {
    const n = anyUser()
    const key = column === 'external_id' ? `ext-${n}` : `user${n}@acme.test`
    const from = performance.now()
    query.get(organization, key)
    return performance.now() - from
  })
  return percentiles(times)
}

function anyUser(): number {
  return Math.floor(Math.random() * users)
}

function memberId(n: number): string {
  return `mem_seed${String(n).padStart(18, '0')}`
}

async function measure(times: number, work: () => Promise<void>): Promise<number[]> {
  const taken: number[] = []
  for (let at = 0; at < times; at++) {
    const from = performance.now()
    await work()
    taken.push(performance.now() - from)
  }
  return taken
}

function percentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

interface Answered {
  readonly id: string
  readonly totalResults: number
  readonly itemsPerPage: number
  readonly nextCursor?: string
}

async function get(path: string): Promise<Answered> {
  return await send('GET', path)
}

async function send(method: string, path: string, body?: unknown): Promise<Answered> {
  const answer = await fetch(`${server.baseUrl}/scim/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secret}`,
      ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text === '' ? '{}' : text) as Answered
}

async function say(words: readonly string[]): Promise<{ secret: string }> {
  const { code, out, err } = await intercept([...words, '--json'], { env })
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
  return JSON.parse(out) as { secret: string }
}

function print(name: string, figure: string): void {
  console.log(`  ${name.padEnd(34)} ${figure}`)
}
