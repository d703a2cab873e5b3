import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { permissions } from '../../src/access/index.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

describe('slips at the command line', () => {
  let product: TestProduct
  let folder: string
  let here: Record<string, string>
  let there: Record<string, string>

  before(async () => {
    product = await productForTests()
    folder = mkdtempSync(join(tmpdir(), 'intercept-slips-'))
    here = { ...product.env }
    await done(['org', 'create', 'acme'])
    const upstream = ['--upstream', 'http://127.0.0.1:8099']
    await done(['target', 'set', 'acme', 'echo', ...upstream, '--rule', 'deny DELETE /admin/*'])
    const all = Object.keys(permissions).flatMap((one) => ['--permission', one])
    const token = await done(['token', 'issue', 'acme', '--name', 'ci', ...all])
    there = {
      INTERCEPT_SERVER: product.baseUrl,
      INTERCEPT_TOKEN: token['secret'] as string,
      INTERCEPT_ORG: 'acme',
    }
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Runs a command with `--json`, checks that it succeeds, and returns its data. */
  async function done(words: readonly string[], env = here): Promise<Record<string, unknown>> {
    const said = await intercept([...words, '--json'], { env })
    assert.equal(said.code, 0, said.err)
    return JSON.parse(said.out) as Record<string, unknown>
  }

  /**
   * Runs a command on the database and over the API. Both times it must exit with this code, and the first line of its
   * errors must match `says`.
   */
  async function refused(words: readonly string[], code: number, says: RegExp): Promise<void> {
    for (const env of [here, there]) {
      const said = await intercept(words, { env })
      assert.equal(said.code, code, `${words.join(' ')}: ${said.out}${said.err}`)
      assert.match(said.err.split('\n')[0] ?? '', says)
    }
  }

  test('a limit that a key cannot have is refused, and the list of keys stays readable over the API', async () => {
    const issue = ['key', 'issue', 'acme', '--name', 'ci']
    const quota = await intercept([...issue, '--quota', '0/day'], { env: here })
    assert.match(quota.err, /A key's quota has 1 to 1000000000000 calls/)
    const rate = await intercept([...issue, '--rate', '5/2d'], { env: here })
    assert.match(rate.err, /A key's rate has 1 to 1000000000 calls in 1 to 86400 seconds/)
    assert.deepEqual(await done(['key', 'list', 'acme'], there), [])
  })

  test('flags that contradict each other are refused, and nothing is changed', async () => {
    const set = ['target', 'set', 'acme', 'echo']
    const usual = await done(['target', 'show', 'acme', 'echo'])
    for (const [flags, says] of [
      [['--rule', 'deny GET /x', '--no-rules'], /^Either --rule or --no-rules\.$/],
      [['--header', 'X-A: b', '--no-header'], /^Either --header or --no-header\.$/],
      [['--disabled', '--enabled'], /^Either --disabled or --enabled\.$/],
      [['--browsers', '--no-browsers'], /^Either --browsers or --no-browsers\.$/],
      [['--assertion', '--no-assertion'], /^Either --assertion or --no-assertion\.$/],
    ] as const) {
      await refused([...set, ...flags], 2, says)
    }
    const ranges = ['--cidr', 'any', '--cidr', '10.0.0.0/8']
    await refused(
      ['org', 'key-defaults', 'acme', ...ranges],
      2,
      /^Either --cidr any or --cidr with/,
    )
    assert.deepEqual(await done(['target', 'show', 'acme', 'echo']), usual)
  })

  test('a word that a flag does not know is refused, and the words that it knows are named', async () => {
    const set = ['target', 'set', 'acme', 'echo']
    for (const [flags, says] of [
      [['--paths', 'verbatm'], /^--paths must be canonical or verbatim\.$/],
      [['--rate-scope', 'nod'], /^--rate-scope must be all or node\.$/],
      [['--records', 'some'], /^--records must be all, refused, none or 'sampled 1\/n'\.$/],
      [['--otherwise', 'deny'], /^--otherwise must be allow, refuse or default\.$/],
      [['--idle'], /^--idle needs a value\.$/],
      [['--idle', '-1s'], /^--idle needs a value; one that begins with - is written --idle=-…\.$/],
      [['--browsers=yes'], /^--browsers takes no value\.$/],
    ] as const) {
      await refused([...set, ...flags], 2, says)
    }
    const role = ['member', 'role', 'acme', 'ada@acme.test', 'king']
    await refused(role, 2, /^The role must be owner, admin, developer or viewer\.$/)
    const add = await intercept(['target', 'set', 'acme', 'echo', '--connect', '0s'], { env: here })
    assert.match(add.err, /^connect_ms is 1 to 60,000 milliseconds\.$/)
  })

  test('what a flag of a target set can be taken back by a flag', async () => {
    for (const env of [here, there]) {
      const set = ['target', 'set', 'acme', 'echo']
      await done(
        [...set, '--rate', '5/s', '--rate-scope', 'node', '--browsers', '--assertion'],
        env,
      )
      const shown = await intercept(['target', 'show', 'acme', 'echo'], { env })
      assert.match(shown.out, /Rate {8}5 calls in 1 s on each node\n/)
      assert.match(shown.out, /Records {5}all\n[^]*First byte {2}within 60,000 ms\n/)
      await done([...set, '--rate', 'none', '--no-browsers', '--no-assertion'], env)
      const { settings } = await done(['target', 'show', 'acme', 'echo'], env)
      const { rate_limit: rate, browsers, assertion } = settings as Record<string, unknown>
      assert.deepEqual([rate ?? null, browsers, assertion], [null, false, false])
    }
  })

  test('a rule that cannot be one is refused in a sentence that says what is wrong with it', async () => {
    const set = ['target', 'set', 'acme', 'echo', '--rule']
    for (const [rule, says] of [
      ['deny GET admin', /^"admin" is no path of a rule: it does not begin with "\/"\.$/],
      ['deny GET /ü', /^"\/ü" is no path of a rule: it holds a control character or one outside/],
      ['deny GET /a?b', /^"\/a\?b" is no rule: a rule has a path without query and parameters\.$/],
    ] as const) {
      await refused([...set, rule], 1, says)
    }
  })

  test('a day that no calendar has is refused, wherever a date is given', async () => {
    const issue = ['key', 'issue', 'acme', '--name', 'ci', '--expires']
    const says = /^--expires must be such as 15m or 90d, a date such as 2027-01-31, or never\.$/
    for (const date of ['2099-02-30', '2099-13-01', '2099-1-3', 'soon']) {
      await refused([...issue, date], 2, says)
    }
    await refused(['token', 'issue', 'acme', '--name', 'x', '--expires', '2099-02-30'], 2, says)
    await refused(['calls', 'list', 'acme', '--since', '2026-02-30'], 2, /^--since must be such as/)
    const file = join(folder, 'acme.yaml')
    const text =
      'version: 1\norganization: { slug: acme }\nkeys:\n  ci: { expires_at: 2099-02-30 }\n'
    writeFileSync(file, text)
    const planned = await intercept(['plan', file], { env: here })
    assert.match(planned.err, /There is no time 2099-02-30\./)
    const kept = await done([...issue, '2099-01-31T10:00'])
    assert.equal(kept['expires_at'], '2099-01-31T10:00:00.000Z')
  })

  test('a plan refuses what applying would refuse, in words of its own', async () => {
    const file = join(folder, 'plan.yaml')
    const start = 'version: 1\norganization: { slug: acme }\n'
    for (const [text, says] of [
      ['keys: { ci: { grants: ["echo:FOO"] } }', /plan\.yaml:3: .*"FOO" is no method that can be/],
      ['keys: { ci: { cidrs: [nowhere] } }', /plan\.yaml:3: .*nowhere is not an address range/],
      ['---\nversion: 1', /plan\.yaml:3: A second document begins here; a file has one organiz/],
    ] as const) {
      writeFileSync(file, `${start}${text}\n`)
      await refused(['plan', file], 1, says)
    }
    await refused(['plan', folder], 1, /^Name a file, not a folder\.$/)
  })

  test('what is advised fits the command: its own organization, its own flag, its own verbs', async () => {
    const file = join(folder, 'advice.yaml')
    const text = 'version: 1\norganization: { slug: acme }\ndomains: { acme.test: {} }\n'
    writeFileSync(file, text)
    const applied = await intercept(['apply', file], { env: here })
    assert.match(applied.err, /\n`intercept org set-plan <slug> enterprise` adds it\.$/)
    const port = new URL(product.baseUrl).port
    const received = await intercept(['receive', '--port', port], { env: here })
    assert.match(received.err, /^Another program listens at .*; choose another port \(--port\)\.$/)
    const bare = await intercept(['scim', 'token'], { env: here })
    assert.match(bare.err, /^`intercept scim token` needs one of these verbs\.\n/)
    const near = await intercept(['scim', 'token', 'isue'], { env: here })
    assert.match(near.err, /^`intercept scim token` has no verb isue; did you mean issue\?\n/)
  })

  test('a file without a head to compare with does not make the audit chains look whole', async () => {
    const file = join(folder, 'heads.json')
    const verify = ['audit', 'verify', 'acme', '--against', file]
    for (const content of ['[]', '{"heads":[]}', '{}', 'null', '5']) {
      writeFileSync(file, content)
      await refused(
        verify,
        2,
        /heads\.json holds no signed head: give what `audit head` printed\.$/,
      )
    }
    await done(['org', 'create', 'other'])
    const { out } = await intercept(['audit', 'head', 'other'], { env: here })
    writeFileSync(file, out)
    await refused(verify, 2, /heads\.json holds no head of acme\.$/)
    rmSync(file)
    await refused(verify, 1, /^There is no file or folder .*heads\.json\.$/)
  })
})
