import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { permissions } from '../../src/access/index.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept, type CommandResult } from '../harness/terminal.ts'

describe('the command line over the API', () => {
  let product: TestProduct
  let folder: string
  let over: Record<string, string>
  let asOperator: Record<string, string>

  before(async () => {
    product = await productForTests()
    folder = mkdtempSync(join(tmpdir(), 'intercept-remote-'))
    await local('org create acme --plan enterprise')
    await local('target set acme echo --upstream http://127.0.0.1:8099 --rate 5/s')
    await local('webhook add acme --url http://127.0.0.1:9000/hook --event domain.lost')
    await local('member add acme ada@acme.test --role viewer')
    await local('key issue acme --name first --grant echo:GET --rate 5/s')
    const all = Object.keys(permissions).map((one) => `--permission ${one}`)
    const token = await local(`token issue acme --name ci ${all.join(' ')}`)
    const operator = await local('token issue --operator --name op')
    over = {
      INTERCEPT_SERVER: product.baseUrl,
      INTERCEPT_TOKEN: token['secret'] as string,
      INTERCEPT_ORG: 'acme',
    }
    asOperator = { ...over, INTERCEPT_TOKEN: operator['secret'] as string }
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  async function local(words: string): Promise<Record<string, unknown>> {
    const said = await intercept([...words.split(' '), '--json'], { env: { ...product.env } })
    assert.equal(said.code, 0, said.err)
    return JSON.parse(said.out) as Record<string, unknown>
  }

  async function remote(words: string, env = over): Promise<CommandResult> {
    return await intercept(words.split(' '), { env })
  }

  /** The same words on both ways give the same text and the same data. */
  async function same(words: string, env = over): Promise<void> {
    for (const ending of ['', ' --json']) {
      const here = await intercept((words + ending).split(' '), { env: { ...product.env } })
      const there = await remote(words + ending, env)
      assert.equal(here.code, 0, here.err)
      assert.equal(there.code, 0, `${words}: ${there.err}`)
      assert.equal(there.out, here.out, words)
    }
  }

  test('what only looks says the same over the API as on the database', async () => {
    const [key] = (await local('key list acme')) as unknown as { id: string }[]
    for (const words of [
      'key list acme',
      `key show ${key!.id}`,
      'target list acme',
      'target show acme echo',
      'org key-defaults acme',
      'export acme',
      'webhook list acme',
      'webhook secret acme',
      'member list acme',
      'audit list acme --action api_key.issued',
    ]) {
      await same(words)
    }
    await same('org list', asOperator)
    const tokens = await remote('token list acme --json')
    const names = (JSON.parse(tokens.out) as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(names, ['ci'])
  })

  test('what changes something does the same over the API', async () => {
    const issued = await remote('key issue acme --name second --grant echo --expires 90d --json')
    assert.equal(issued.code, 0, issued.err)
    const { id, secret } = JSON.parse(issued.out) as { id: string; secret: string }
    assert.match(secret, /^svc_live_/)
    for (const [words, says] of [
      [`key edit ${id} --rate 7/s --all-targets`, /7 calls in 1 s/],
      [`key rotate ${id} --overlap 1h`, /The new secret of second/],
      [`key revoke ${id}`, /is revoked/],
      ['target set acme second --upstream http://127.0.0.1:8098', /Target second/],
      ['target set acme second --idle 20s --disabled', /is changed/],
      ['target remove acme second', /is gone/],
      ['org key-defaults acme --expires 30d', /end after 30 days/],
    ] as const) {
      const done = await remote(words)
      assert.equal(done.code, 0, `${words}: ${done.err}`)
      assert.match(done.out, says)
    }
    await same(`key show ${id}`)
    const added = await remote('webhook add acme --url http://127.0.0.1:9001/other --json')
    const endpoint = JSON.parse(added.out) as { id: string }
    assert.match((await remote(`webhook ping ${endpoint.id}`)).out, /is on its way/)
    assert.equal((await remote(`webhook remove ${endpoint.id}`)).code, 0)
    assert.match((await remote('webhook secret acme --rotate')).out, /^svc_whsec_/)
    const promoted = await remote('member role acme ada@acme.test developer')
    assert.equal(promoted.code, 0, promoted.err)
    await same('member list acme')
    assert.match((await remote('member remove acme ada@acme.test')).out, /no member of acme/)
    const made = await remote('token issue acme --name child --json')
    const child = JSON.parse(made.out) as { id: string }
    assert.equal((await remote(`token revoke ${child.id}`)).code, 0)
    assert.equal((await remote('org create beta', asOperator)).code, 0)
    assert.equal((await remote('org set-plan beta enterprise', asOperator)).code, 0)
    await same('org list', asOperator)
  })

  test('a file is planned and applied with the secrets of this side; a new key is told once', async () => {
    const file = join(folder, 'acme.yaml')
    writeFileSync(
      file,
      'version: 1\norganization: { slug: acme }\ntargets:\n  filed:\n    upstream: http://127.0.0.1:8097/\n    credential: { header: X-Key, value: env:FILED }\nkeys:\n  ci: { grants: [filed] }\n',
    )
    const env = { ...over, FILED: 'canary-filed' }
    const planned = await remote(`plan ${file}`, env)
    assert.match(planned.out, /\+ target filed/)
    const here = await intercept(['plan', file], { env: { ...product.env, FILED: 'canary-filed' } })
    assert.equal(planned.out, here.out)
    const refused = await remote(`apply ${file}`, env)
    assert.match(refused.err, /--new-secrets/)
    const applied = await remote(`apply ${file} --new-secrets stdout`, env)
    assert.equal(applied.code, 0, applied.err)
    assert.match(applied.out, /"secret":"svc_live_/)
    assert.equal((await remote(`plan ${file} --expect-none`, env)).code, 0)
    assert.ok(!(planned.out + applied.out + refused.err).includes('canary'))
    const missing = await remote(`plan ${file}`)
    assert.match(missing.err, /acme\.yaml:6: .*env:FILED/)
  })

  test('refusals are the server’s; what only a machine has is refused loudly', async () => {
    const gone = await remote('target show acme nope')
    assert.equal(gone.code, 1)
    assert.match(gone.err, /There is no target nope/)
    const wrong = await remote('key list acme', { ...over, INTERCEPT_TOKEN: 'svc_admin_x' })
    assert.equal(wrong.code, 1)
    for (const words of ['serve', 'migrate', 'backup x', 'setup-link', 'doctor', 'reseal']) {
      const refused = await remote(words)
      assert.equal(refused.code, 2, words)
      assert.match(refused.err, /works on the machine itself/)
    }
    const database = await remote('audit verify acme')
    assert.equal(database.code, 1)
    assert.match(database.err, /works on the database only/)
    const nobody = await remote('key show key_x', { ...over, INTERCEPT_ORG: '' })
    assert.match(nobody.err, /--org SLUG/)
  })

  test('the token comes from standard input, the environment, a file, or a profile that nobody else may read', async () => {
    const [server, token] = [over['INTERCEPT_SERVER']!, over['INTERCEPT_TOKEN']!]
    const words = ['key', 'list', 'acme']
    const flags = ['--server', server, '--token-stdin']
    const piped = await intercept([...words, ...flags], { env: {}, input: token })
    assert.equal(piped.code, 0, piped.err)
    const profile = join(folder, 'profile.json')
    writeFileSync(profile, JSON.stringify({ server, token, organization: 'acme' }), { mode: 0o600 })
    assert.equal((await intercept([...words, `--profile=${profile}`], { env: {} })).code, 0)
    const open = join(folder, 'open.json')
    writeFileSync(open, JSON.stringify({ server, token }), { mode: 0o644 })
    const refused = await intercept(words, { env: { INTERCEPT_PROFILE: open } })
    assert.equal(refused.code, 2)
    assert.match(refused.err, /chmod 600/)
    assert.ok(!refused.err.includes(token))
    const none = await intercept([...words, '--server', server], { env: {} })
    assert.match(none.err, /needs an access token/)
    const plain = await intercept([...words, '--server', 'http://intercept.example.com'], {
      env: { INTERCEPT_TOKEN: token },
    })
    assert.match(plain.err, /https/)
  })
})
