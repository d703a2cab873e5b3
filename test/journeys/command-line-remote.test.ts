import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { permissions } from '../../src/access/index.ts'
import type { TxtAnswer } from '../../src/http/index.ts'
import { nouns } from '../../src/cli/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { lies } from '../harness/hostile-lies.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept, type CommandResult } from '../harness/terminal.ts'
import { until } from '../harness/webhooks.ts'

/** Removes the start of the last 24 hours from a command's output, because it differs each time. */
const shown = (out: string): string => out.replace(/"from":"[^"]+"/, '')

describe('the command line over the API', () => {
  let product: TestProduct
  let idp: HostileIdp
  /** The DNS records that the server sees. */
  const zone = new Map<string, TxtAnswer>()
  /** The commands that have succeeded over the API. */
  const done: string[] = []
  let folder: string
  let over: Record<string, string>
  let asOperator: Record<string, string>

  before(async () => {
    idp = await hostileIdp(lies)
    product = await productForTests({
      resolveTxt: async (name) => zone.get(name) ?? { kind: 'none' },
    })
    folder = mkdtempSync(join(tmpdir(), 'intercept-remote-'))
    await local('org create acme --plan enterprise')
    await local('target set acme echo --upstream http://127.0.0.1:8099 --rate 5/s')
    await local('webhook add acme --url http://127.0.0.1:9000/hook --event domain.lost')
    await local('member add acme ada@acme.test --role viewer')
    await local('key issue acme --name first --grant echo:GET --rate 5/s --label cost_center=eu:1')
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
    await idp[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  async function local(words: string): Promise<Record<string, unknown>> {
    const said = await intercept([...words.split(' '), '--json'], { env: { ...product.env } })
    assert.equal(said.code, 0, said.err)
    return JSON.parse(said.out) as Record<string, unknown>
  }

  async function remote(words: string, env = over, input = ''): Promise<CommandResult> {
    const said = await intercept(words.split(' '), { env, input })
    if (said.code === 0) done.push(words)
    return said
  }

  /** Checks that a command prints the same text and data over the API as on the database. */
  async function same(asked: string | readonly string[], env = over): Promise<void> {
    const words = typeof asked === 'string' ? asked.split(' ') : asked
    for (const ending of [[], ['--json']]) {
      const here = await intercept([...words, ...ending], { env: { ...product.env } })
      const there = await intercept([...words, ...ending], { env })
      assert.equal(here.code, 0, here.err)
      assert.equal(there.code, 0, `${words.join(' ')}: ${there.err}`)
      assert.equal(shown(there.out), shown(here.out), words.join(' '))
    }
    done.push(words.join(' '))
  }

  test('what only looks says the same over the API as on the database', async () => {
    const [key] = (await local('key list acme')) as unknown as { id: string }[]
    for (const words of [
      'key list acme',
      'key list acme --label cost_center=eu:1',
      'key list acme --label none',
      `key show ${key!.id}`,
      'target list acme',
      'target show acme echo',
      'org key-defaults acme',
      'org limits acme',
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
      [`key rotate ${id} --overlap 1h`, /The new secret of second[^]*The old one is valid until 2/],
      [`key rotate ${id} --overlap 0s`, /The old one is refused from now on/],
      [`key revoke ${id}`, /is revoked/],
      ['target set acme second --upstream http://127.0.0.1:8098', /Target second/],
      ['target set acme second --idle 20s --disabled', /is changed/],
      ['target remove acme second', /is gone/],
      ['org key-defaults acme --expires 30d', /end after 30 days/],
      ['org limits acme --rate 500/s', /share 500 calls in 1 s/],
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

  test('calls are listed, narrowed and followed as the server keeps them', async () => {
    const key = await local('key issue acme --name caller')
    const call = async (path: string, secret: string) =>
      await fetch(`${product.baseUrl}/api/v1/intercept${path}`, {
        headers: { 'x-api-key': secret },
      }).then(async (response) => await response.text())
    await call('/echo/one', key['secret'] as string)
    await call('/nowhere', key['secret'] as string)
    await until(
      async () => ((await local('calls list acme')) as unknown as unknown[]).length === 2,
      'calls',
    )
    for (const words of [
      'calls list acme',
      'calls list acme --status 5xx --target echo --path /one --since 1h',
      `calls list acme --key ${key['id'] as string} --method get --limit 1`,
      'calls list acme --stopped-at forward --address 127.0.0.1',
      'calls tail acme --lines 1',
    ]) {
      await same(words)
    }
    assert.match((await remote('calls list acme --status 5xx')).out, /echo\/one/)
    assert.match((await remote('calls list acme --target nope')).err, /no target nope/)
    const checked = await remote('key check', over, key['secret'] as string)
    assert.match(checked.out, /is the key caller .* of acme, and works/)
    assert.match((await remote('key check', over, 'svc_live_wrong')).err, /API key/)
  })

  test('deliveries are listed, counted and sent again', async () => {
    const [endpoint] = (await local('webhook list acme')) as unknown as { id: string }[]
    await local(`webhook ping ${endpoint!.id}`)
    const found = (await local('deliveries list acme')) as unknown as { id: string }[]
    assert.ok(found.length > 0)
    await until(async () => {
      const [ping] = (await local('deliveries list acme --limit 1')) as unknown as {
        attempts: number
      }[]
      return ping?.attempts === 1
    }, 'the first attempt, which nobody answers')
    for (const words of [
      'deliveries list acme --limit 1',
      `deliveries list acme --endpoint ${endpoint!.id} --state retrying --type webhook.ping --since 1h`,
      'deliveries list acme --state missed',
      'deliveries replay acme --state retrying --dry-run',
      `deliveries replay acme ${found[0]!.id} --dry-run`,
    ]) {
      await same(words)
    }
    assert.match((await remote(`deliveries replay acme ${found[0]!.id}`)).out, /is due again/)
    const all = await remote('deliveries replay acme --type webhook.ping')
    assert.match(all.out, /1 delivery to be sent again by the running nodes \(operation op_/)
    assert.match((await remote('deliveries replay acme dlv_nope')).err, /no such delivery/i)
  })

  test('company sign-in and directory are set up', async () => {
    const connect = `sso connect acme --issuer ${idp.issuerOf('honest')} --client-id intercept --client-secret-stdin`
    const first = await remote(`${connect} --domain acme.test`, over, 'secret')
    assert.equal(first.code, 0, first.err)
    assert.match(first.out, /acme\.test waits for a TXT record/)
    await same('sso list acme')
    const second = await remote(`${connect} --domain acme.test --json`, over, 'secret')
    const made = JSON.parse(second.out) as {
      id: string
      is_default: boolean
      domains: { connection_id: string; record: { name: string; value: string } }[]
    }
    assert.equal(made.is_default, true)
    assert.equal(made.domains[0]?.connection_id, made.id)
    assert.equal((await remote('sso verify-domain acme acme.test')).code, 1)
    const { name, value } = made.domains[0].record
    zone.set(name, { kind: 'records', texts: [value] })
    assert.match((await remote('sso verify-domain acme acme.test')).out, /is verified \(DNS\)/)
    await same('sso list acme')

    const issued = await remote('scim token issue acme --name Entra --json')
    const token = JSON.parse(issued.out) as { id: string; secret: string; base: string }
    assert.match(token.secret, /^svc_scim_/)
    assert.equal(token.base, `${product.baseUrl}/scim/v2`)
    await same('scim token list acme')
    assert.match((await remote(`scim token revoke acme ${token.id}`)).out, /is revoked/)
  })

  test('rules are tried on, and the audit chain is checked by the server', async () => {
    await same(['target', 'set', 'acme', 'echo', '--rule', 'allow GET /two', '--dry-run'])
    await same('audit verify acme')
    const head = await remote('audit head acme')
    writeFileSync(join(folder, 'heads.json'), head.out)
    const kept = await intercept(
      ['audit', 'verify', 'acme', '--against', join(folder, 'heads.json')],
      {
        env: { ...product.env },
      },
    )
    assert.equal(kept.code, 0, kept.err + kept.out)
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
    for (const words of [
      'receive',
      'scan .',
      'completion bash',
      'member add acme a@b.test --role viewer',
    ]) {
      const flagged = await remote(`${words} --server ${over['INTERCEPT_SERVER']}`)
      assert.equal(flagged.code, 2, words)
      assert.match(flagged.err, /works on the machine itself/)
    }
    assert.match((await remote('audit verify')).err, /name the organization/)
    const held = await remote(`audit verify acme --against ${join(folder, 'heads.json')}`)
    assert.match(held.err, /against the database itself/)
    const vouched = await remote('sso verify-domain acme vouched.test --override')
    assert.match(vouched.err, /whoever can reach the database/)
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

  test('every command works over the API, or its help says why it does not', async () => {
    const untried: string[] = []
    for (const [noun, { load }] of Object.entries(nouns)) {
      for (const [verb, { local: reason }] of Object.entries((await load()).commands)) {
        const name = `${noun} ${verb}`.trim()
        const { out } = await intercept([...name.split(' '), '--help'], { env: {} })
        if (reason !== undefined) {
          assert.ok(out.includes(`Works on the machine itself only: ${reason.because}.`), name)
        } else {
          assert.match(out, /with --server URL/, name)
          if (!done.some((words) => `${words} `.startsWith(`${name} `))) untried.push(name)
        }
      }
    }
    assert.deepEqual(untried, [])
  })

  test('what needs neither database nor node runs whatever server the environment names', async () => {
    const env = { INTERCEPT_SERVER: 'https://intercept.example.com' }
    for (const words of ['completion bash', 'scan package.json', 'key issue --help']) {
      assert.equal((await intercept(words.split(' '), { env })).code, 0, words)
    }
  })
})
