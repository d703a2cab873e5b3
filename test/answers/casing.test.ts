import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { nouns } from '../../src/cli/index.ts'
import { eventTypes } from '../../src/webhooks/index.ts'
import { assertSnakeCase, otherNames, otherNamesOfSchema } from '../harness/casing.ts'
import { idpForTests } from '../harness/idp.ts'
import { productForTests } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

interface Described {
  readonly paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>
}

test('every parameter and every member in the OpenAPI document is snake_case', async () => {
  await using product = await productForTests()
  const document = (await (
    await fetch(`${product.baseUrl}/api/v1/openapi.json`)
  ).json()) as Described
  const parameters = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.values(operations).flatMap(({ parameters = [] }) =>
      // Header names are exempt, because they follow HTTP's own style.
      parameters.flatMap((one) => (one.in === 'header' ? [] : [`${path} ${one.name}`])),
    ),
  )
  assert.ok(parameters.length > 100)
  assert.deepEqual(
    parameters.filter((line) => /[A-Z]/.test(line)),
    [],
  )
  assert.deepEqual(otherNamesOfSchema(document), [])
})

test('every member in the schema and in the sample of every event is snake_case', () => {
  for (const { type, schema, sample } of eventTypes) {
    assert.deepEqual(otherNamesOfSchema(schema), [], type)
    assert.deepEqual(otherNames(sample), [], type)
  }
})

test('the walk finds a camelCase name at any depth, and leaves header names alone', () => {
  assert.deepEqual(otherNames({ a: [{ isWrong: 1 }], headers: { 'X-Mine': '' } }), ['.a[].isWrong'])
  const schema = { anyOf: [{ properties: { good_one: { properties: { badOne: {} } } } }] }
  assert.deepEqual(otherNamesOfSchema(schema), ['/anyOf.good_one.badOne'])
})

describe('the command line', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-casing-'))
  after(() => rmSync(folder, { recursive: true }))
  const env = {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    LOG_LEVEL: 'silent',
    OUTBOUND_ALLOW_LOOPBACK: 'true',
  }

  /** Runs a command with --json and checks the names in all JSON that it prints; returns the last object. */
  async function said(line: string, input = 'secret', at: Record<string, string> = env) {
    const { out, err } = await intercept([...line.split(' '), '--json'], { env: at, input })
    const lines = `${out}\n${err}`
      .split('\n')
      .filter((one) => one.startsWith('{') || one.startsWith('['))
    for (const one of lines) assertSnakeCase(JSON.parse(one), `intercept ${line}`)
    return JSON.parse(lines.at(-1) ?? '{}') as Record<string, string>
  }

  test('every command says snake_case with --json, what it refuses as well', async () => {
    await using idp = await idpForTests()
    const asked = new Set<string>()
    const ask = async (line: string, input?: string, at?: Record<string, string>) => {
      asked.add(line)
      return await said(line, input, at)
    }
    await ask('migrate')
    await ask('org create acme --plan enterprise')
    await ask('org create acme')
    await ask('org set-plan acme enterprise')
    await ask('org key-defaults acme --expires 90d --cidr 10.0.0.0/8')
    await ask('org limits acme --rate 500/s')
    await ask('org list')
    await ask('member add acme a@acme.test --role owner')
    await ask('member add acme b@acme.test --role viewer')
    await ask('member list acme')
    await ask('member role acme b@acme.test developer')
    await ask('member remove acme b@acme.test')
    await ask('target set acme echo --upstream http://127.0.0.1:9 --rate 5/s --rule GET')
    await ask('target set acme echo --upstream http://127.0.0.1:9 --rate 5/s --body 1MiB')
    await ask('target list acme')
    await ask('target show acme echo')
    const key = await ask('key issue acme --name ci --rate 5/s --quota 100/day --grant echo:GET')
    await ask('key list acme')
    await ask(`key show ${key['id']}`)
    await ask(`key edit ${key['id']} --name other`)
    await ask('key check', key['secret'])
    await ask(`key rotate ${key['id']}`)
    await ask(`key revoke ${key['id']}`)
    const endpoint = await ask('webhook add acme --url http://127.0.0.1:9/ --rate 5')
    await ask('webhook list acme')
    await ask('webhook secret acme')
    await ask(`webhook ping ${endpoint['id']}`)
    await ask(`webhook remove ${endpoint['id']}`)
    const issuer = idp.issuer
    await ask(
      `sso connect acme --issuer ${issuer} --client-id x --client-secret-stdin --domain acme.test`,
    )
    await ask('sso list acme')
    await ask('sso verify-domain acme acme.test --override')
    const token = await ask('scim token issue acme')
    await ask('scim token list acme')
    await ask(`scim token revoke acme ${token['id']}`)
    const program = await ask('token issue acme --name ci')
    await ask('token list acme')
    await ask(`token revoke ${program['id']}`)
    await ask('export acme')
    await ask(`plan ${join(folder, 'none.yaml')}`)
    await ask(`apply ${join(folder, 'none.yaml')}`)
    await ask('target remove acme echo')
    await ask('sign-in-link a@acme.test')
    await ask('setup-link')
    await ask('audit verify acme')
    await ask('audit head acme')
    await ask('audit list acme')
    await ask('calls list acme')
    await ask('calls tail acme')
    await ask('deliveries list acme')
    await ask('deliveries replay acme --dry-run')
    await ask('completion bash')
    await ask('scan src/ids.ts')
    await ask('reseal')
    await ask('doctor')
    await ask('serve')
    await ask('receive --port 0')
    await ask(`backup ${join(folder, 'copy')}`)
    await ask(`restore ${join(folder, 'copy')}`, '', { ...env, DATA_DIR: join(folder, 'again') })
    await ask('demo --port 0', '', { LOG_LEVEL: 'silent' })

    for (const [noun, { load }] of Object.entries(nouns)) {
      for (const verb of Object.keys((await load()).commands)) {
        const words = verb === '' ? noun : `${noun} ${verb}`
        const found = [...asked].some((line) => `${line} `.startsWith(`${words} `))
        assert.ok(found, `intercept ${words} is not in this test`)
      }
    }
  })
})
