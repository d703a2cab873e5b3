import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { run } from '../../src/cli/index.ts'
import { gatewayForTests, until, type TestGateway } from '../harness/gateway.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { intercept } from '../harness/terminal.ts'

describe('the command line in an empty place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-empty-'))
  const env = { DATA_DIR: join(folder, 'data') }
  after(() => rmSync(folder, { recursive: true }))

  for (const words of [
    'org list',
    'key list acme',
    'key show key_1',
    'key check',
    'target list acme',
    'target show acme echo',
    'member list acme',
    'webhook list acme',
    'deliveries list acme',
    'calls list acme',
    'calls tail acme --follow',
    'audit list acme',
    'audit verify',
    'sso list acme',
    'scim token list acme',
    'sign-in-link ada@acme.test',
    'key revoke key_1',
    'backup copy.db',
  ]) {
    test(`\`${words}\` says in one sentence that there is no database, and makes nothing`, async () => {
      const { code, out, err } = await intercept(words.split(' '), { env, input: 'svc_live_x' })
      assert.deepEqual([code, out], [1, ''])
      assert.match(
        err,
        /^There is no database in .*data \(DATA_DIR\) yet; `intercept serve` makes one\.$/,
      )
      assert.deepEqual(readdirSync(folder), [])
    })
  }

  test('doctor says so too, finds nothing wrong with it, and makes nothing', async () => {
    const { code, out } = await intercept(['doctor'], { env })
    assert.equal(code, 0)
    assert.match(out, /ok {4}database: There is no database/)
    assert.deepEqual(readdirSync(folder), [])
  })

  test('an empty PostgreSQL database stays empty, and no key is made', async () => {
    await using database = await postgresForTests()
    const place = { ...env, DATABASE_URL: database.url }
    const { code, err } = await intercept(['key', 'list', 'acme'], { env: place })
    assert.deepEqual([code, /at DATABASE_URL yet/.test(err)], [1, true])
    assert.equal(existsSync(env.DATA_DIR), false)
  })
})

describe('help, and what was meant', () => {
  const env = {}
  test('-h, -v and help exit 0; a command explains each flag and shows examples', async () => {
    for (const words of [['-h'], ['--help'], ['help'], ['-v'], ['--version'], ['key', '-h']]) {
      const { code, err } = await intercept(words, { env })
      assert.deepEqual([code, err], [0, ''], words.join(' '))
    }
    const { out } = await intercept(['key', 'issue', '-h'], { env })
    assert.match(out, /--grant TARGET\[:METHOD,…\] {2,}what it may call/)
    assert.match(out, /Examples:\n {2}intercept key issue acme --name ci/)
    const npx = await withProgram('npx interceptd', ['key', 'issue', '--help'])
    assert.match(npx.out, /\n {2}npx interceptd key issue acme --name ci/)
  })

  test('a word that is nearly a command, a verb or a flag is answered with the one that was meant', async () => {
    for (const [words, meant] of [
      ['targt list acme', 'There is no command targt; did you mean target?'],
      ['key isue acme', '`intercept key` has no verb isue; did you mean issue?'],
      ['key issue acme --nam x', 'did you mean --name?'],
      ['xyzzy', 'There is no command xyzzy.'],
    ] as const) {
      const { code, err } = await intercept(words.split(' '), { env })
      assert.equal(code, 2)
      assert.ok(err.includes(meant), err)
    }
    const { err } = await intercept(['org', 'create', 'a', 'extra'], { env })
    assert.match(err, /^Unexpected argument: extra\./)
  })

  test('the completion of each shell can be read by it, and knows nouns, verbs and flags', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await intercept(['completion', shell], { env })
      assert.equal(code, 0)
      for (const word of ['deliveries', 'replay', 'dry-run', 'token']) assert.ok(out.includes(word))
    }
    const { out } = await intercept(['completion', 'bash'], { env })
    const ask = (line: string): string[] => {
      const words = line.split(' ')
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
        COMP_CWORD=${words.length - 1}; _intercept; printf '%s\\n' "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
    }
    assert.deepEqual(ask('intercept deliv'), ['deliveries'])
    assert.deepEqual(ask('intercept key is'), ['issue'])
    assert.deepEqual(ask('intercept scim token re'), ['revoke'])
    assert.deepEqual(ask('intercept key issue acme --gr'), ['--grant'])
    assert.equal((await intercept(['completion', 'tcsh'], { env })).code, 2)
  })

  test('a port that is no port is wrong use; one that is taken names PORT', async () => {
    for (const words of ['demo --port abc', 'demo --port 70000', 'receive --port abc']) {
      const { code, err } = await intercept(words.split(' '), { env })
      assert.equal(code, 2, words)
      assert.match(err, /^--port must be a whole number from 0 to 65535\./)
    }
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const folder = mkdtempSync(join(tmpdir(), 'intercept-port-'))
    const settings = { DATA_DIR: folder, PORT: String(port), LOG_LEVEL: 'silent' }
    const { code, err } = await intercept(['serve'], { env: settings })
    taken.close()
    rmSync(folder, { recursive: true })
    assert.equal(code, 1)
    assert.match(
      err,
      new RegExp(`^Another program listens at 127.0.0.1:${port}; .* \\(PORT\\)\\.$`),
    )
  })

  test('errors of files are sentences, never codes of the system', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-files-'))
    const made = await intercept(['org', 'create', 'acme'], { env: { DATA_DIR: folder } })
    assert.equal(made.code, 0, made.err)
    writeFileSync(join(folder, 'file'), 'x')
    for (const [words, data] of [
      [['restore', join(folder, 'none.db')], join(folder, 'new')],
      [['backup', join(folder, 'none', 'copy.db')], folder],
      [['backup', join(folder, 'file')], folder],
      [['org', 'create', 'acme'], join(folder, 'file')],
    ] as const) {
      const { code, err } = await intercept(words, { env: { DATA_DIR: data } })
      assert.equal(code, 1)
      assert.doesNotMatch(err, /\bE[A-Z]{4,}\b|SQLITE_/, words.join(' '))
      assert.match(err, /\.$/)
    }
    rmSync(folder, { recursive: true })
  })
})

describe('looking and acting from the command line', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await gatewayForTests({ target: ['--rule', 'deny DELETE /*'] })
    assert.equal((await gateway.call('/echo/orders/1', gateway.xApiKey)).status, 200)
    const denied = await gateway.call('/echo/orders/1', gateway.bearer, { method: 'DELETE' })
    assert.equal(denied.status, 403)
    await until(
      async () =>
        ((await gateway.run('calls', 'list', 'acme')) as unknown as unknown[]).length === 2,
    )
  })
  after(async () => await gateway[Symbol.asyncDispose]())

  const told = async (...words: string[]) =>
    await intercept(words, { env: { ...gateway.product.env } })
  const listOf = async (...words: string[]) =>
    (await gateway.run(...words)) as unknown as Record<string, string>[]

  test('calls are listed by any filter, tailed in order, and followed as they end', async () => {
    const [denied, passed] = await listOf('calls', 'list', 'acme')
    assert.deepEqual([denied?.['code'], passed?.['status']], ['rule_denied', 200])
    for (const flags of [
      ['--status', '4xx'],
      ['--status', '403'],
      ['--stopped-at', 'rules'],
      ['--method', 'delete'],
      ['--key', gateway.bearer.id],
    ]) {
      const found = await listOf('calls', 'list', 'acme', ...flags, '--since', '1h')
      assert.deepEqual(
        found.map(({ id }) => id),
        [denied?.['id']],
        flags.join(' '),
      )
    }
    const below = await listOf('calls', 'list', 'acme', '--target', 'echo', '--path', '/orders')
    assert.equal(below.length, 2)
    assert.deepEqual((await listOf('calls', 'list', 'acme', '--since', '2100-01-01')).length, 0)
    const tail = await listOf('calls', 'tail', 'acme')
    assert.deepEqual(
      tail.map(({ id }) => id),
      [passed?.['id'], denied?.['id']],
    )
    assert.equal((await told('calls', 'list', 'acme', '--status', 'odd')).code, 2)
    const { code, err } = await told('calls', 'list', 'acme', '--stopped-at', 'rule')
    assert.match(`${code} ${err}`, /^2 .*--stopped-at must be one of shape, .* limits, forward/s)
    assert.match((await told('calls', 'list', 'acme', '--target', 'nope')).err, /no target nope/)

    const lines: string[] = []
    const stop = Promise.withResolvers<void>()
    const following = run(['calls', 'tail', 'acme', '--follow', '--lines', '1', '--json'], {
      env: { ...gateway.product.env },
      isPerson: false,
      print: (line) => void lines.push(line),
      complain: (line) => void lines.push(line),
      readInput: async () => '',
      untilStopped: async () => await stop.promise,
    })
    await until(() => lines.length === 1)
    await gateway.call('/echo/followed', gateway.xApiKey)
    await until(() => lines.length === 2)
    stop.resolve()
    assert.equal(await following, 0)
    assert.match(lines[1] ?? '', /"path":"[^"]*\/followed"/)
  })

  test('a key is shown and edited; what is left out stays', async () => {
    const { id } = await gateway.issue('--rate', '10/s', '--expires', '90d')
    assert.match((await told('key', 'show', id)).out, /^May call +every target$/m)
    const edited = await gateway.run(
      'key',
      'edit',
      id,
      '--grant',
      'echo:GET',
      '--cidr',
      '10.0.0.0/8',
    )
    assert.deepEqual(edited['grants'], [{ target: 'echo', methods: ['GET'] }])
    assert.ok(edited['rate_limit'] !== null && edited['expires_at'] !== null)
    const opened = await gateway.run(
      ...[
        'key',
        'edit',
        id,
        '--all-targets',
        '--any-address',
        '--rate',
        'none',
        '--expires',
        'never',
      ],
    )
    const { grants, cidrs, rate_limit: rate, expires_at: end } = opened
    assert.deepEqual([grants, cidrs, rate, end], [null, null, null, null])
    assert.equal((await told('key', 'edit', id)).code, 2)
  })

  test('labels of a key are set, listed by, replaced and taken away', async () => {
    const { id } = await gateway.issue('--label', 'team=payments', '--label', 'note=a:b, c=d')
    await gateway.issue('--label', 'team=search')
    const found = async (...labels: string[]) => {
      const flags = labels.flatMap((label) => ['--label', label])
      return (await listOf('key', 'list', 'acme', ...flags)).map((key) => key['id'])
    }
    assert.deepEqual(await found('team=payments'), [id])
    assert.equal((await found('team')).length, 2)
    assert.deepEqual(await found('team', 'note=a:b, c=d'), [id])
    assert.match((await told('key', 'show', id)).out, /^Labels +note=a:b, c=d, team=payments$/m)

    const renamed = await gateway.run('key', 'edit', id, '--name', 'renamed')
    assert.deepEqual(renamed['labels'], { note: 'a:b, c=d', team: 'payments' })
    const edited = await gateway.run('key', 'edit', id, '--label', 'constructor=x')
    assert.deepEqual(edited['labels'], { constructor: 'x' })
    assert.equal((await gateway.run('key', 'edit', id, '--no-labels'))['labels'], null)

    for (const [label, code, sentence] of [
      ['team', 2, /--label must be NAME=VALUE/],
      ['Team=x', 1, /is no name of a label/],
      ['__proto__=x', 1, /is no name of a label/],
      [`team=${'x'.repeat(129)}`, 1, /up to 128 characters/],
    ] as const) {
      const refused = await told('key', 'edit', id, '--label', label)
      assert.deepEqual([refused.code, sentence.test(refused.err)], [code, true], refused.err)
    }
  })

  test('no key is issued for what it could never call', async () => {
    for (const [grant, code, sentence] of [
      ['nope', 1, /There is no target "nope" to grant; there are echo\./],
      ['echo:FOO', 2, /--grant knows no method FOO, only GET, HEAD/],
      ['echo:POTS', 2, /did you mean POST\?/],
      ['echo:', 2, /--grant knows no method/],
    ] as const) {
      const issued = await told('key', 'issue', 'acme', '--name', 'wrong', '--grant', grant)
      assert.equal(issued.code, code, issued.out)
      assert.match(issued.err, sentence)
    }
    const { id } = await gateway.issue('--grant', 'echo:GET')
    assert.equal((await told('key', 'edit', id, '--grant', 'nope')).code, 1)
  })

  test('a role is changed and a membership ended, by address; the last owner stays', async () => {
    await gateway.run('member', 'add', 'acme', 'olga@acme.test', '--role', 'owner')
    const added = await told('member', 'add', 'acme', 'ada@acme.test', '--role', 'viewer')
    assert.match(added.out, /`intercept sign-in-link ada@acme\.test`$/)
    const changed = await gateway.run('member', 'role', 'acme', 'Ada@acme.test', 'developer')
    assert.equal(changed['role'], 'developer')
    const last = await told('member', 'role', 'acme', 'olga@acme.test', 'admin')
    assert.deepEqual([last.code, /owner/.test(last.err)], [1, true])
    assert.equal((await gateway.run('member', 'remove', 'acme', 'ada@acme.test'))['removed'], true)
    assert.equal((await told('member', 'remove', 'acme', 'ada@acme.test')).code, 1)
  })

  test('deliveries are listed and sent again, one or all that a filter finds; nothing without saying which', async () => {
    const { url } = gateway.upstream
    const { id: endpoint } = await gateway.run('webhook', 'add', 'acme', '--url', url)
    await gateway.run('webhook', 'ping', String(endpoint))
    const delivered = async () => await listOf('deliveries', 'list', 'acme', '--state', 'delivered')
    await until(async () => (await delivered()).length > 0)
    const [delivery] = await delivered()
    const dry = ['deliveries', 'replay', 'acme', '--state', 'delivered', '--dry-run']
    assert.equal((await gateway.run(...dry))['deliveries'], (await delivered()).length)
    const again = await gateway.run('deliveries', 'replay', 'acme', delivery?.['id'] ?? '')
    assert.equal(again['replayed'], true)
    assert.equal((await told('deliveries', 'replay', 'acme')).code, 2)
    const all = await gateway.run('deliveries', 'replay', 'acme', '--endpoint', String(endpoint))
    assert.match(String(all['operation_id']), /^op_/)
  })

  test('an endpoint is removed only by its id, also when it is the only one', async () => {
    const [endpoint] = await listOf('webhook', 'list', 'acme')
    const { code, err } = await told('webhook', 'remove', 'acme')
    assert.deepEqual([code, err.split('\n')[0]], [2, 'Say which endpoint, by its id (ep_…).'])
    assert.equal((await listOf('webhook', 'list', 'acme')).length, 1)
    await gateway.run('webhook', 'remove', endpoint?.['id'] ?? '')
    assert.equal((await listOf('webhook', 'list', 'acme')).length, 0)
    const rate = await told(
      'webhook',
      'add',
      'acme',
      '--url',
      gateway.upstream.url,
      '--rate',
      'fast',
    )
    assert.equal(rate.code, 2)
  })

  test('the log is listed by action and actor', async () => {
    const entries = await listOf('audit', 'list', 'acme', '--action', 'member.removed')
    assert.equal(entries.length, 1)
    const [entry] = entries as unknown as { actor: { kind: string } }[]
    assert.equal(entry?.actor.kind, 'operator')
    assert.match((await told('audit', 'list', 'acme')).out, /^TIME \(UTC\) +WHO +WHAT/)
  })

  test('hints can be pasted as they are printed, with npx where npx started us', async () => {
    await gateway.run('org', 'create', 'empty')
    const words = ['key', 'list', 'empty']
    const plain = await told(...words)
    assert.equal(plain.out, 'No key yet; `intercept key issue empty --name first` issues one.')
    const npx = await withProgram('npx interceptd', words, gateway.product.env)
    assert.match(npx.out, /`npx interceptd key issue empty --name first`/)
    const [, hint = ''] = /`intercept ([^`]+)`/.exec(plain.out) ?? []
    assert.equal((await told(...hint.split(' '))).code, 0)
    const scim = await told('scim', 'token', 'issue', 'empty')
    assert.match(scim.err, /`intercept org set-plan empty enterprise`/)
  })

  test('doctor finds an address that leads nowhere, or to something else, while a node runs', async () => {
    const env = { ...gateway.product.env }
    const well = await intercept(['doctor'], { env })
    assert.match(well.out, /ok {4}reachability: .* is ready\./)
    const elsewhere = createServer().listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const { port } = elsewhere.address() as AddressInfo
    elsewhere.close()
    await once(elsewhere, 'close')
    const wrong = await intercept(['doctor'], {
      env: { ...env, BASE_URL: `http://localhost:${port}` },
    })
    assert.equal(wrong.code, 1)
    assert.match(wrong.out, /WRONG reachability: A node runs, but nothing answers at/)
  })
})

/** Runs a command as if it had been started by another name, such as `npx interceptd`. */
async function withProgram(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const out: string[] = []
  const code = await run(words, {
    ...{ env, isPerson: false, program },
    print: (line) => void out.push(line),
    complain: (line) => void out.push(line),
    readInput: async () => '',
    untilStopped: async () => {},
  })
  process.exitCode = 0
  return { code, out: out.join('\n') }
}
