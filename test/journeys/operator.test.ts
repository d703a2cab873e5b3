import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/main.ts'
import { intercept } from '../harness/terminal.ts'

describe('an operator keeps the service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-operator-'))
  const env = { DATA_DIR: join(folder, 'data'), PORT: '1', LOG_LEVEL: 'silent' }
  after(() => rmSync(folder, { recursive: true }))

  async function issueKey(name: string): Promise<{ id: string; secret: string }> {
    const words = ['key', 'issue', 'acme', '--name', name, '--json']
    const { code, out, err } = await intercept(words, { env })
    assert.equal(code, 0, err)
    return JSON.parse(out) as { id: string; secret: string }
  }

  test('doctor lists every setting with its default and measures revocation', async () => {
    assert.equal((await intercept(['migrate'], { env })).code, 0)
    const { code, out } = await intercept(['doctor', '--json'], { env: { ...env, PROT: '1' } })
    assert.equal(code, 0, out)
    const report = JSON.parse(out) as {
      settings: { name: string; default: string; is_set: boolean }[]
      findings: { check: string; is_well: boolean; said: string; details?: { median_ms: number } }[]
    }
    const limit = report.settings.find((line) => line.name === 'LIMIT_FAILED_CREDENTIALS')
    assert.equal(limit?.default, '20/s burst 100')
    const revocation = report.findings.find((finding) => finding.check === 'revocation')
    assert.ok((revocation?.details?.median_ms ?? -1) >= 0)
    assert.equal(revocation?.is_well, true)
    assert.equal(report.settings.find((line) => line.name === 'PORT')?.is_set, true)
    assert.ok(report.findings.some(({ said }) => said.includes('did you mean PORT?')))
    // Field names are in snake_case, as in the output of every command.
    assert.doesNotMatch(out, /"[a-z]+[A-Z]\w*":/)
  })

  test('doctor sees a running node, hears it confirm, and finds that it is ready', async () => {
    await using running = await start(readConfig({ ...env, PORT: '0' }))
    const here = { ...env, PORT: String(running.port) }
    const { code, out } = await intercept(['doctor'], { env: here })
    assert.equal(code, 0, out)
    assert.match(out, /reachability: \S+ is ready/)
    assert.match(out, /revocation: .* 1 node confirms\./)
    assert.match(out, /history: 1 of 1 nodes have read/)
    assert.match(out, /deliveries: No delivery waits; 0 endpoints are held/)
  })

  test('doctor and serve refuse a database whose secrets were sealed with another key', async () => {
    const running = await start(readConfig({ ...env, PORT: '0' }))
    await running[Symbol.asyncDispose]()
    const other = { ...env, INTERCEPT_SECRET: 'another-secret-0123456789-abcdefghijk' }
    const { code, out } = await intercept(['doctor'], { env: other })
    assert.equal(code, 1)
    assert.match(out, /WRONG secrets/)
    await assert.rejects(start(readConfig({ ...other, PORT: '0' })))
  })

  test('a backup made while the server runs is restored elsewhere, and only where nothing is', async () => {
    await intercept(['org', 'create', 'acme'], { env })
    const before = await issueKey('before the backup')
    const file = join(folder, 'backup.db')
    {
      await using running = await start(readConfig({ ...env, PORT: '0' }))
      assert.equal((await intercept(['backup', file], { env })).code, 0, running.baseUrl)
    }
    const later = await issueKey('after the backup')
    assert.equal((await intercept(['backup', file], { env })).code, 1, 'overwrites nothing')
    assert.equal((await intercept(['restore', file], { env })).code, 1, 'overwrites nothing')

    const restored = { DATA_DIR: join(folder, 'restored') }
    assert.equal((await intercept(['restore', file], { env: restored })).code, 0)
    const check = async (input: string) =>
      (await intercept(['key', 'check'], { env: restored, input })).code
    assert.equal(await check(before.secret), 0)
    assert.equal(await check(later.secret), 1)
  })

  test('a head of the audit log that was kept elsewhere shows a database that was put back', async () => {
    const at = { DATA_DIR: join(folder, 'audited') }
    const heads = join(folder, 'heads.json')
    const early = join(folder, 'early.db')
    const verify = async (file: string, place: object = at) =>
      await intercept(['audit', 'verify', '--against', file], { env: { ...place } })
    await intercept(['org', 'create', 'acme'], { env: at })
    assert.equal((await intercept(['backup', early], { env: at })).code, 0)
    const issue = ['key', 'issue', 'acme', '--name', 'later']
    assert.equal((await intercept(issue, { env: at })).code, 0)
    const { out } = await intercept(['audit', 'head', '--json'], { env: at })
    writeFileSync(heads, out)
    assert.equal((await verify(heads)).code, 0)
    assert.equal((await intercept(issue, { env: at })).code, 0)
    assert.equal((await verify(heads)).code, 0, 'the log went on from there')

    const back = { DATA_DIR: join(folder, 'put-back') }
    mkdirSync(back.DATA_DIR)
    copyFileSync(join(at.DATA_DIR, 'secret.key'), join(back.DATA_DIR, 'secret.key'))
    assert.equal((await intercept(['restore', early], { env: back })).code, 0)
    assert.equal((await intercept(['audit', 'verify'], { env: back })).code, 0)
    const found = await verify(heads, back)
    assert.equal(found.code, 1)
    assert.match(found.out, /WRONG acme: .* went back behind the head to compare with/)

    // The event carries the same data as the command's output.
    const [head] = JSON.parse(out).heads.filter(
      (one: { organization_id: string }) => one.organization_id !== 'system',
    )
    const event = join(folder, 'event.json')
    writeFileSync(event, JSON.stringify({ type: 'audit.head_sealed', data: head }))
    assert.equal((await verify(event)).code, 0)
    assert.equal((await verify(event, back)).code, 1)
    writeFileSync(event, JSON.stringify({ data: { ...head, hash: 'f'.repeat(64) } }))
    assert.match((await verify(event)).out, /not signed here/)
    writeFileSync(event, JSON.stringify({ type: 'webhook.ping', data: {} }))
    assert.match((await verify(event)).err, /holds no signed head/)
  })

  test('database, key file and backup are for their owner only, and no secret is in them', async () => {
    const { secret } = await issueKey('canary')
    const file = join(folder, 'canary.db')
    assert.equal((await intercept(['backup', file], { env })).code, 0)
    const files = ['intercept.db', 'calls.db', 'secret.key'].map((name) => join(env.DATA_DIR, name))
    for (const path of [...files, file]) {
      assert.equal(statSync(path).mode & 0o777, 0o600, path)
      assert.ok(!readFileSync(path).includes(secret), path)
      assert.ok(!readFileSync(path).includes(secret.slice(-49)), path)
    }
  })

  test('without the key of a database that is there, `serve` says so and writes none; reading goes on', async () => {
    const alone = { DATA_DIR: join(folder, 'without-key') }
    assert.equal((await intercept(['org', 'create', 'kept'], { env: alone })).code, 0)
    const key = join(alone.DATA_DIR, 'secret.key')
    const kept = readFileSync(key)
    rmSync(key)
    await assert.rejects(
      start(readConfig({ ...alone, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent' })),
      /master key of this database is missing.*secret\.key.*INTERCEPT_SECRET/,
    )
    assert.equal((await intercept(['org', 'list'], { env: alone })).code, 0)
    const written = await intercept(['org', 'create', 'second'], { env: alone })
    assert.equal(written.code, 1)
    assert.match(written.err, /master key of this database is missing/)
    assert.equal(existsSync(key), false)
    writeFileSync(key, kept)
    assert.equal((await intercept(['audit', 'verify'], { env: alone })).code, 0)
  })

  test('a file that is not a backup is not restored', async () => {
    const file = join(folder, 'poem.txt')
    writeFileSync(file, 'Shall I compare thee to a summer’s day?'.repeat(200))
    const empty = { DATA_DIR: join(folder, 'empty') }
    const { code, err } = await intercept(['restore', file], { env: empty })
    assert.equal(code, 1)
    assert.match(err, /is not a backup of Intercept/)
    assert.equal((await intercept(['org', 'create', 'acme'], { env: empty })).code, 0)
  })

  test('PostgreSQL is backed up with its own tools, and that is said', async () => {
    const postgres = { DATABASE_URL: 'postgres://localhost:1/nothing' }
    const { code, err } = await intercept(['restore', 'x'], { env: postgres })
    assert.equal(code, 1)
    assert.match(err, /pg_restore/)
  })

  test('scan finds secrets in files, in bundles and in what git remembers, and shows none of them', async () => {
    const tree = join(folder, 'tree')
    mkdirSync(join(tree, 'dist'), { recursive: true })
    const { secret } = await issueKey('leaked')
    const lookalike = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
    writeFileSync(join(tree, 'clean.txt'), `not one: ${lookalike}\n`)
    const clean = await intercept(['scan', tree], { env })
    assert.equal(clean.code, 0, clean.out)

    // The secret spans two chunks of the file's stream, in the middle of a long line.
    writeFileSync(join(tree, 'dist', 'app.js'), `${'x'.repeat(65_536 - 20)}"${secret}";`)
    const bundle = await intercept(['scan', tree, '--json'], { env })
    assert.equal(bundle.code, 1)
    const { findings } = JSON.parse(bundle.out) as { findings: { place: string; line: number }[] }
    assert.deepEqual(
      findings.map(({ place, line }) => [place, line]),
      [[join(tree, 'dist', 'app.js'), 1]],
    )
    assert.ok(!bundle.out.includes(secret.slice(-30)))

    const git = (...words: string[]) => {
      const identity = ['-c', 'user.name=t', '-c', 'user.email=t@t.test']
      assert.equal(spawnSync('git', ['-C', tree, ...identity, ...words]).status, 0, words.join(' '))
    }
    git('init', '-q')
    writeFileSync(join(tree, 'env'), `A=1\nKEY=${secret}\n`)
    git('add', 'env')
    git('commit', '-qm', 'Add settings')
    rmSync(join(tree, 'env'))
    rmSync(join(tree, 'dist'), { recursive: true })
    git('add', '-A')
    git('commit', '-qm', 'Remove settings')
    const history = await intercept(['scan', tree], { env })
    assert.equal(history.code, 1)
    assert.match(history.out, /\(git [0-9a-f]+ env\):2 {2}svc_live_\w{8}_…\w{4} {2}api_key/)

    // Add a second work tree that shares the history, and scan the folder above both.
    git('worktree', 'add', '-q', '../tree-beside')
    const above = await intercept(['scan', folder, '--json'], { env })
    const inGit = (JSON.parse(above.out) as { findings: { place: string }[] }).findings.filter(
      ({ place }) => place.includes('(git '),
    )
    assert.equal(inGit.length, 1, above.out)
    assert.ok(inGit[0]?.place.startsWith(join(folder, 'tree')))
  })
})

test('the audit log says which account of the machine printed a sign-in link', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-printed-'))
  const env = { DATA_DIR: folder }
  try {
    for (const words of [
      ['migrate'],
      ['org', 'create', 'acme'],
      ['member', 'add', 'acme', 'ada@acme.test', '--role', 'owner'],
      ['sign-in-link', 'ada@acme.test'],
    ]) {
      const { code, err } = await intercept(words, { env })
      assert.equal(code, 0, err)
    }
    const words = ['audit', 'list', 'acme', '--action', 'sign_in_link.printed', '--json']
    const entries = JSON.parse((await intercept(words, { env })).out) as {
      actor: { kind: string; name: string }
    }[]
    assert.equal(entries[0]?.actor.kind, 'operator')
    assert.ok(entries[0]?.actor.name.endsWith(`@${hostname()}`))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
