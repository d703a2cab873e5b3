// npm run bench -- scim [users] [sqlite|postgres]: measures requests to a directory of that many users (50,000 by
// default; the goal is 1,000,000). Look-ups and pages are compared with similar queries sent directly to the database.
// PostgreSQL runs without fsync here.
import { loadavg } from 'node:os'
import { startServerProcess } from '../test/harness/server-process.ts'
import { cpuSeconds, residentBytes } from './processes.ts'
import { memberId, seededDirectory } from './scim-directory.ts'

const users = Number(process.argv[2] ?? 50_000)
const engine = process.argv[3] === 'postgres' ? 'postgres' : 'sqlite'
const asked = 1000
const userUrn = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

const started = performance.now()
await using directory = await seededDirectory(engine, users)
await using server = await startServerProcess(directory.env)
print('seeded', `${users} users on ${engine} in ${seconds(started)} s; load ${load()}`)

// Warms up, so that the figures don't include the compilation of code during the first requests.
await measure(
  100,
  async () =>
    void (await get(`/Users?count=1&filter=${encodeURIComponent('title pr and userName eq "a"')}`)),
)
await empty()
await equalities()
await pages()
await creations()
await members()
await memory()

/** Measures a request that touches no directory: the time of every request below includes this cost. */
async function empty(): Promise<void> {
  const times = await measure(asked, async () => {
    const answer = await fetch(`${server.baseUrl}/healthz`)
    await answer.text()
  })
  print('no work at all', times.text)
}

async function equalities(): Promise<void> {
  const one = 'select attributes from directory_user where organization_id = ? and'
  for (const [name, filter, floor, key] of [
    ['userName', 'userName eq "User#@acme.test"', `${one} user_name_key = ?`, 'user#@acme.test'],
    ['externalId', 'externalId eq "ext-#"', `${one} external_id = ?`, 'ext-#'],
    [
      'e-mail',
      'emails[type eq "work"].value eq "user#@mail.test"',
      `select attributes from directory_user where id in
       (select directory_user_id from directory_email where organization_id = ? and value_key = ?)`,
      'user#@mail.test',
    ],
  ] as const) {
    const times = await measure(asked, async () => {
      const wanted = filter.replace('#', String(anyUser()))
      const found = await get(`/Users?filter=${encodeURIComponent(wanted)}`)
      if (found.totalResults !== 1) throw new Error(`${wanted}: ${JSON.stringify(found)}`)
    })
    const alone = await measure(asked, async () => {
      await directory.rows(floor, [directory.organization, key.replace('#', String(anyUser()))])
    })
    print(`eq on ${name}`, `${times.text}  (bar p99 10 ms); database alone ${alone.text}`)
  }
}

async function pages(): Promise<void> {
  const sizes = [megabytes()]
  let cursor: string | undefined = ''
  let seen = 0
  const walk = await measure(Math.ceil(users / 100), async () => {
    const page = await get(`/Users?count=100&cursor=${encodeURIComponent(cursor ?? '')}`)
    cursor = page.nextCursor
    seen += page.itemsPerPage
    if (seen >= sizes.length * (users / 10)) sizes.push(megabytes())
  })
  if (seen !== users) throw new Error(`the walk saw ${seen} of ${users}`)
  const floor = `select attributes from directory_user where organization_id = ? and position > ? order by position limit 100`
  const alone = await measure(asked, async () => {
    await directory.rows(floor, [directory.organization, anyUser()])
  })
  print('page of 100, whole walk by cursor', `${walk.text}  (bar p99 25 ms); alone ${alone.text}`)
  print('memory before, at each tenth', `${sizes.join(' ')} MB`)
  let index = Math.max(1, Math.floor(users / 2))
  const middle = await measure(Math.min(asked, Math.floor(users / 400)), async () => {
    const page = await get(`/Users?count=100&startIndex=${index}`)
    index += page.itemsPerPage
  })
  print('page of 100 in a walk by index', `${middle.text}  (bar p99 25 ms)`)
  // Each request asks for a new page size, so that the server can't use a position that it has cached.
  let count = 50
  const last = await measure(20, async () => {
    const page = await get(`/Users?count=${++count}&startIndex=${users - 49}`)
    if (page.itemsPerPage !== 50) throw new Error(`${page.itemsPerPage} on the last page`)
  })
  const offset = `select id from directory_user where organization_id = ? order by position limit 50 offset ?`
  const cold = await measure(5, async () => {
    await directory.rows(offset, [directory.organization, users - 50])
  })
  print('cold jump to the last page', `${last.text}  (bar 150 ms); OFFSET alone ${cold.text}`)
}

async function creations(): Promise<void> {
  for (const waiting of [1, 16]) {
    let next = 0
    const from = performance.now()
    const taken = await measure(1, async () => {
      await Promise.all(
        Array.from({ length: waiting }, async () => {
          while (next < 3000) await create(`new-${waiting}-${next++}`)
        }),
      )
    })
    const rate = Math.round(3000 / Number(seconds(from)))
    const each = (taken.cpuMs / 3000).toFixed(2)
    print(`POST /Users, ${waiting} at once`, `${rate}/s, ${each} ms CPU each  (bar 800/s, 1 ms)`)
  }
}

async function members(): Promise<void> {
  const large = Math.min(100_000, users)
  const group = await send('POST', '/Groups', { schemas: [groupUrn], displayName: 'Large' })
  await directory.fillGroup(group.id, large)
  const { id } = await create('in-and-out')
  let isIn = false
  const changes = await measure(asked, async () => {
    const op = isIn
      ? { op: 'remove', path: `members[value eq "${id}"]` }
      : { op: 'add', path: 'members', value: [{ value: id }] }
    await send('PATCH', `/Groups/${group.id}`, { schemas: [patchUrn], Operations: [op] })
    isIn = !isIn
  })
  print(`one member in or out of ${large}`, `${changes.text}  (bar 5 ms)`)
}

async function memory(): Promise<void> {
  const many = Math.min(10_000, Math.floor(users / 2))
  const group = await send('POST', '/Groups', { schemas: [groupUrn], displayName: 'Replaced' })
  const sizes: number[] = []
  let from = 0
  const puts = await measure(12, async () => {
    from = from === 0 ? many : 0
    await send('PUT', `/Groups/${group.id}?excludedAttributes=members`, {
      schemas: [groupUrn],
      displayName: 'Replaced',
      members: Array.from({ length: many }, (_, n) => ({ value: memberId(from + n) })),
    })
    sizes.push(megabytes())
  })
  print(`PUT of ${many} other members`, `${puts.text}  (bar 1,000 ms)`)
  print('memory after each', `${sizes.join(' ')} MB; load ${load()}`)
}

function anyUser(): number {
  return Math.floor(Math.random() * users)
}

async function create(name: string): Promise<Answered> {
  const userName = `${name}@acme.test`
  return await send('POST', '/Users', {
    schemas: [userUrn],
    userName,
    externalId: name,
    name: { givenName: 'New', familyName: name },
    emails: [{ value: userName, type: 'work', primary: true }],
  })
}

/** Measures the duration of each run, and the CPU time that the server spends on all of them. */
async function measure(
  turns: number,
  work: () => Promise<void>,
): Promise<{ text: string; cpuMs: number }> {
  const taken: number[] = []
  const cpu = cpuSeconds(server.pid)
  for (let turn = 0; turn < turns; turn++) {
    const from = performance.now()
    await work()
    taken.push(performance.now() - from)
  }
  const cpuMs = (cpuSeconds(server.pid) - cpu) * 1000
  const sorted = taken.toSorted((a, b) => a - b)
  const at = (share: number): string =>
    (sorted[Math.min(turns - 1, Math.floor(turns * share))] ?? 0).toFixed(2)
  const each = cpuMs === 0 ? '' : `, CPU ${(cpuMs / turns).toFixed(2)} ms`
  return { text: `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms${each}`, cpuMs }
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
      authorization: `Bearer ${directory.secret}`,
      ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text === '' ? '{}' : text) as Answered
}

function megabytes(): number {
  return Math.round(residentBytes(server.pid) / 1e6)
}

function seconds(from: number): string {
  return ((performance.now() - from) / 1000).toFixed(1)
}

function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1)
}

function print(name: string, figure: string): void {
  console.log(`  ${name.padEnd(34)} ${figure}`)
}
