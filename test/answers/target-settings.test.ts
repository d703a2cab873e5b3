import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorityForTests } from '../harness/certificate.ts'
import { firstOwner } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

// Fields that a PATCH of the target cannot set: the server sets some itself, and another route sets others. The name of
// a credential's header can only be set together with the credential's value, which is never shown.
const onlyShown = ['id', 'slug', 'health', 'rules', 'otherwise_set', 'credential_header']
const counted = ['created_at', 'calls24h', 'refused24h', 'version']

test('every setting that a target shows can be sent back as it is, its CA certificate too', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const { cert: certificate } = authorityForTests('private')
  const made = await owner.call('POST /organizations/acme/targets', {
    ...{ slug: 'orders', name: 'Orders', upstream: 'https://127.0.0.1:9443', ca: certificate },
    ...{ rate_limit: { calls: 9, per_seconds: 1, burst: 20 }, quota: { calls: 5, period: 'day' } },
  })
  assert.equal(made.status, 201, JSON.stringify(made.json))
  assert.equal(made.json.ca, certificate)
  const settable = Object.entries(made.json as Record<string, unknown>).filter(
    ([name]) => !onlyShown.includes(name) && !counted.includes(name),
  )
  const sent = await owner.call('PATCH /organizations/acme/targets/orders', {
    ...Object.fromEntries(settable),
  })
  assert.equal(sent.status, 200, JSON.stringify(sent.json))
  for (const [name, value] of settable) assert.deepEqual(sent.json[name], value, name)
  const cleared = await owner.call('PATCH /organizations/acme/targets/orders', { ca: null })
  assert.equal(cleared.json.ca, undefined)
  const wrong = await owner.call('PATCH /organizations/acme/targets/orders', { ca: 'no PEM' })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.json.code, 'invalid_input')
})

const encodedPaths = [
  ...['/caf%C3%A9', '/a%20b', '/a%3Fb', '/a%3Bb', '/a%23b', '/a%2Ab', '/%2A/*', '/100%25'],
  ...['/%2541', '/%252A', '/%252e%252e/*', '/%FF*', '/a"b'],
]

test('rules with encoded characters can be sent back as the API and the command line show them', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const at = '/organizations/acme/targets/orders'
  const rules = encodedPaths.map((path) => ({ effect: 'deny', methods: [], path, trial: false }))
  const made = await owner.call('POST /organizations/acme/targets', {
    ...{ slug: 'orders', upstream: 'http://127.0.0.1:8099', rules },
  })
  assert.equal(made.status, 201, JSON.stringify(made.json))
  const shown = pathsOf(made.json)
  assert.deepEqual(shown, encodedPaths)
  const inputs = made.json.rules.map((rule: object) => ({ ...rule, calls: undefined }))
  const saved = await owner.call(`PUT ${at}/rules`, { rules: inputs })
  assert.equal(saved.status, 200, JSON.stringify(saved.json))
  assert.deepEqual(saved.json.rules, made.json.rules)
  const previewed = await owner.call(`POST ${at}/rules/preview`, { rules: inputs })
  assert.equal(previewed.status, 200, JSON.stringify(previewed.json))

  const { env } = product
  const { out } = await intercept(['target', 'show', 'acme', 'orders'], { env })
  const lines = [...out.matchAll(/^ {2}\d+\. (.*)$/gm)].map(([, line = '']) => line)
  assert.equal(lines.length, encodedPaths.length)
  const flags = lines.flatMap((line) => ['--rule', line])
  const set = await intercept(['target', 'set', 'acme', 'orders', ...flags], { env })
  assert.equal(set.code, 0, set.err)
  const json = await intercept(['target', 'show', 'acme', 'orders', '--json'], { env })
  assert.deepEqual(pathsOf(JSON.parse(json.out)), encodedPaths)
})

function pathsOf(target: { readonly rules: readonly { readonly path: string }[] }): string[] {
  return target.rules.map(({ path }) => path)
}
