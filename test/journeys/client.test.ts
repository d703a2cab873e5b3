import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { permissions } from '../../src/access/index.ts'
import { firstOwner } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { issuedBy } from '../harness/program.ts'
import { findProgram } from '../harness/proxy-program.ts'

const root = join(import.meta.dirname, '../..')
const bin = join(root, 'node_modules', '.bin')

const bun = findProgram('bun')
/** The Node that comes with the product and, where installed, the machine's own Node (which may be older) and Bun. */
const runtimes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node', bun ?? ''].filter(
  (path, at) => at === 0 || existsSync(path),
)

describe('the packed client, installed in an empty folder', () => {
  let product: TestProduct
  let folder: string
  let env: Record<string, string>

  before(async () => {
    product = await productForTests()
    const owner = await firstOwner(product)
    const token = await issuedBy(owner, { permissions: Object.keys(permissions) })
    const made = await owner.call('POST /organizations/acme/targets', {
      slug: 'echo',
      upstream: 'http://echo.intercept.internal/',
    })
    assert.equal(made.status, 201, made.text)
    env = { INTERCEPT_SERVER: product.baseUrl, INTERCEPT_TOKEN: token.secret }
    folder = mkdtempSync(join(tmpdir(), 'intercept-client-'))
    const source = join(folder, 'source')
    cpSync(join(root, 'packages', 'client'), source, { recursive: true })
    await run(join(bin, 'tsc'), ['-p', source], folder)
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], source)
    const empty = join(folder, 'empty')
    cpSync(join(root, 'packages', 'client', 'README.md'), join(empty, 'README.md'))
    writeFileSync(join(empty, 'package.json'), '{"type":"module"}')
    const tarball = join(folder, 'intercept-client-0.1.0.tgz')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], empty)
    writeFileSync(join(empty, 'ten.js'), tenOperations)
    const [, readme = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(empty, 'README.md'), 'utf8'))!
    writeFileSync(join(empty, 'readme.js'), readme)
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  async function run(command: string, words: readonly string[], cwd: string): Promise<string> {
    const child = spawn(command, words, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<[number | null]>((resolve) => child.once('close', (ended) => resolve([ended]))),
    ])
    assert.equal(code, 0, `${command} ${words.join(' ')}: ${out}${err}`)
    return out
  }

  if (bun === undefined) {
    test('Bun: not tested here, because no bun is on the PATH', { skip: true })
  }

  for (const runtime of runtimes) {
    test(`${runtime}: the lines of its README work`, async () => {
      const out = await run(runtime, ['readme.js'], join(folder, 'empty'))
      assert.match(out, /billing/)
      assert.match(out, /200\ntrue credential_revoked/)
    })

    test(`${runtime}: ten operations, a refusal, a retry that makes nothing twice, and a webhook`, async () => {
      const secret = `svc_whsec_${'A'.repeat(48)}`
      const body = '{"id":"evt_1","type":"webhook.ping","data":{}}'
      const seconds = String(Math.floor(Date.now() / 1000))
      const bytes = Buffer.from(secret.slice('svc_whsec_'.length), 'base64')
      const mac = createHmac('sha256', bytes).update(`evt_1.${seconds}.${body}`).digest('base64')
      env = { ...env, HOOK: JSON.stringify({ secret, body, seconds, mac }) }
      const said: unknown = JSON.parse(await run(runtime, ['ten.js'], join(folder, 'empty')))
      assert.deepEqual(said, {
        organization: 'acme',
        target: 'new',
        renamed: 'Renamed',
        conflict: 'version_conflict',
        pages: 3,
        labelled: 1,
        once: true,
        tries: 2,
        refused: 'not_found',
        event: 'webhook.ping',
        forged: 'WebhookVerificationError',
        removed: true,
        ended: true,
      })
    })
  }
})

const tenOperations = `
import { createClient, verifyWebhook } from '@intercept/client'
const { INTERCEPT_SERVER: server, INTERCEPT_TOKEN: token } = process.env
const organization = 'acme'
let lost = 0
// The response to the first request that issues a key gets lost.
const unsteady = async (url, init) => {
  const response = await fetch(url, init)
  if (init.method === 'POST' && url.endsWith('/keys') && lost++ === 0) throw new TypeError('lost')
  return response
}
const client = createClient({ server, token, fetch: unsteady, wait: async () => {} })
const said = {}
said.organization = (await client.getOrganization({ organization })).slug
const made = await client.createTarget({ organization, body: { slug: 'new', upstream: 'http://127.0.0.1:8099' } })
said.target = made.slug
const edited = await client.updateTarget({ organization, target: 'new', body: { name: 'Renamed' } }, { version: made.version })
said.renamed = edited.name
said.conflict = await client
  .updateTarget({ organization, target: 'new', body: { name: 'x' } }, { version: made.version })
  .catch((error) => error.code)
const name = 'once ' + Date.now() + Math.random()
await client.issueKey({ organization, body: { name } })
await client.issueKey({ organization, body: { name: name + ' 2' } })
await client.issueKey({ organization, body: { name: name + ' 3' } })
said.pages = 0
const seen = []
for await (const key of client.all('listKeys', { organization, query: { limit: 1, search: name } })) {
  said.pages++
  seen.push(key.name)
}
const labels = { run: 'r' + Date.now(), note: 'a,b' }
await client.issueKey({ organization, body: { name: name + ' 4', labels } })
const label = ['run:' + labels.run, 'note:a,b']
said.labelled = (await client.listKeys({ organization, query: { label } })).items.length
said.once = seen.filter((one) => one === name).length === 1
said.tries = lost - 3
said.refused = await client.getTarget({ organization, target: 'nope' }).catch((error) => error.code)
const { secret, body, seconds, mac } = JSON.parse(process.env.HOOK)
const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': seconds, 'webhook-signature': 'v1,' + mac }
said.event = (await verifyWebhook(body, headers, secret)).type
said.forged = await verifyWebhook(body + ' ', headers, secret).catch((error) => error.name)
await client.deleteTarget({ organization, target: 'new' })
const { items } = await client.listTargets({ organization })
said.removed = !items.some(({ slug }) => slug === 'new')
let events = 0
for await (const event of client.all('listEvents', { organization })) if (++events === 5000) break
const { items: latest } = await client.listEvents({ organization, query: { limit: 1 } })
said.ended = latest.length === 1 && events > 0 && events < 5000
console.log(JSON.stringify(said))
`
