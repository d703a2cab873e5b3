import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accessTokens, organizations } from '../../src/store/index.ts'
import { eventsThatFit } from '../harness/events.ts'
import { firstOwner, memberOf, withStore, type Person, type Reply } from '../harness/person.ts'
import { intercept } from '../harness/terminal.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { issuedBy, programWith } from '../harness/program.ts'
import { engines } from '../harness/store.ts'

const at = '/organizations/acme'
const dayMs = 86_400_000

for (const engine of engines) {
  describe(`access tokens on ${engine}`, () => {
    let product: TestProduct
    let owner: Person
    before(async () => {
      product = await productForTests({ engine })
      owner = await firstOwner(product)
    })
    after(async () => await product[Symbol.asyncDispose]())

    const program = (secret: string, port = product.port) =>
      programWith(`http://127.0.0.1:${port}`, secret)

    async function memberId(email: string): Promise<string> {
      const members = await owner.call(`GET ${at}/members?limit=200`)
      return members.json.items.find((one: { email: string }) => one.email === email).id
    }

    test('a revoked token is refused on every node when the answer arrives, and its own stream ends', async () => {
      const node = await product.anotherNode()
      const { id, secret } = await issuedBy(owner, { permissions: ['traffic.see'] })
      const here = program(secret)
      const there = program(secret, node.port)
      for (const one of [here, there]) assert.equal((await one.call(`GET ${at}`)).status, 200)
      const live = await fetch(`http://127.0.0.1:${node.port}/api/v1${at}/calls/live`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      assert.equal(live.status, 200)
      const ended = await owner.call(`POST ${at}/access-tokens/${id}/revoke`)
      assert.equal(ended.status, 200, ended.text)
      assert.equal(ended.json.confirmation.nodes, 2)
      assert.equal(ended.json.access_token.state, 'revoked')
      for (const one of [here, there]) {
        const refused = await one.call(`GET ${at}`)
        assert.equal(refused.status, 401)
        assert.equal(refused.json.code, 'credential_revoked')
      }
      await live.text()
      await node.stop()
    })

    test('whoever holds a token can kill it, on every node', async () => {
      const { secret } = await issuedBy(owner, {})
      const revoked = await fetch(`${product.baseUrl}/api/v1/credentials/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ secret }),
      })
      assert.deepEqual(await revoked.json(), { received: true })
      assert.equal((await program(secret).call(`GET ${at}`)).json.code, 'credential_revoked')
    })

    test('a token stands in audit entries and events by its name and id, and shows its last use', async () => {
      const { id, secret } = await issuedBy(owner, {
        name: 'terraform',
        permissions: ['traffic.see', 'keys.issue', 'keys.manage'],
      })
      const issued = await program(secret).call(`POST ${at}/keys`, { name: 'by a program' })
      assert.equal(issued.status, 201, issued.text)
      const audit = await owner.call(`GET ${at}/audit?actor_id=${id}`)
      const [entry] = audit.json.items
      assert.equal(entry.action, 'api_key.issued')
      assert.equal(entry.actor.kind, 'token')
      assert.equal(entry.actor.id, id)
      assert.equal(entry.actor.name, 'terraform')
      assert.ok(!audit.text.includes(secret))
      const rotated = await program(secret).call(`POST ${at}/keys/${issued.json.key.id}/rotate`, {
        overlap_seconds: 0,
      })
      assert.equal(rotated.status, 201, rotated.text)
      await until(async () => {
        const shown = await owner.call(`GET ${at}/access-tokens/${id}`)
        assert.ok(!shown.text.includes(secret))
        return shown.json.last_used_at !== null && shown.json.last_used_address === '127.0.0.1'
      })
    })

    test('an Idempotency-Key belongs to the token that sent it', async () => {
      const first = program((await issuedBy(owner, { permissions: ['keys.issue'] })).secret)
      const second = program((await issuedBy(owner, { permissions: ['keys.issue'] })).secret)
      const head = { 'idempotency-key': 'one' }
      const made = await first.call(`POST ${at}/keys`, { name: 'once' }, head)
      const again = await first.call(`POST ${at}/keys`, { name: 'once' }, head)
      const other = await second.call(`POST ${at}/keys`, { name: 'once' }, head)
      assert.equal(made.status, 201, made.text)
      assert.equal(again.json.key.id, made.json.key.id)
      assert.equal(other.status, 201, other.text)
      assert.notEqual(other.json.key.id, made.json.key.id)
    })

    test('a token is used from its own addresses only', async () => {
      const elsewhere = await issuedBy(owner, { cidrs: ['192.0.2.0/24'] })
      const refused = await program(elsewhere.secret).call(`GET ${at}`)
      assert.equal(refused.status, 403)
      assert.equal(refused.json.code, 'address_not_allowed')
      const here = await issuedBy(owner, { cidrs: ['127.0.0.0/8'] })
      assert.equal((await program(here.secret).call(`GET ${at}`)).status, 200)
    })

    test('without a choice a token looks only, ends after 90 days, and is refused beyond a year to all but owners', async () => {
      const issued = await owner.call(`POST ${at}/access-tokens`, { name: 'plain' })
      const { access_token: token } = issued.json
      assert.deepEqual(token.permissions, ['traffic.see'])
      const days = (Date.parse(token.expires_at) - product.clock.now()) / dayMs
      assert.ok(days > 89.9 && days < 90.1, String(days))
      const admin = await memberOf(product, 'acme', { email: 'long@acme.test', role: 'admin' })
      for (const expires_at of [null, new Date(product.clock.now() + 400 * dayMs).toISOString()]) {
        const name = 'for long'
        const long = await admin.call(`POST ${at}/access-tokens`, { name, expires_at })
        assert.equal(long.json.code, 'permission_required', long.text)
        const owned = await owner.call(`POST ${at}/access-tokens`, { name, expires_at })
        assert.equal(owned.status, 201, owned.text)
      }
      const past = await owner.call(`POST ${at}/access-tokens`, {
        name: 'past',
        expires_at: '2020-01-01T00:00:00Z',
      })
      assert.equal(past.json.code, 'invalid_input')
    })

    test('nobody gives a token more than they have, and what is reserved only an owner gives', async () => {
      const admin = await memberOf(product, 'acme', { email: 'giver@acme.test', role: 'admin' })
      const ask = async (by: { call: Person['call'] }, permission: string): Promise<Reply> =>
        await by.call(`POST ${at}/access-tokens`, { name: 'x', permissions: [permission] })
      for (const permission of [
        'owners.manage',
        'organization.delete',
        'sso.manage',
        'tokens.manage',
      ]) {
        const refused = await ask(admin, permission)
        assert.equal(refused.status, 403, refused.text)
        assert.equal(refused.json.permission, permission)
        assert.equal((await ask(owner, permission)).status, 201)
      }
      assert.equal((await ask(admin, 'keys.manage')).status, 201)
      const narrow = await issuedBy(owner, { permissions: ['tokens.manage', 'traffic.see'] })
      assert.equal((await ask(program(narrow.secret), 'keys.manage')).status, 403)
      assert.equal((await ask(program(narrow.secret), 'tokens.manage')).status, 403)
      assert.equal((await ask(program(narrow.secret), 'traffic.see')).status, 201)
    })

    test('a token never does more than its maker may now: demotion narrows it, removal ends it, on every node', async () => {
      const email = 'maker@acme.test'
      const admin = await memberOf(product, 'acme', { email, role: 'admin' })
      const node = await product.anotherNode()
      const { secret } = await issuedBy(admin, { permissions: ['traffic.see', 'members.manage'] })
      const both = [program(secret), program(secret, node.port)]
      for (const one of both) assert.equal((await one.call(`GET ${at}/members`)).status, 200)
      const id = await memberId(email)
      const demoted = await owner.call(`PATCH ${at}/members/${id}`, { role: 'viewer' })
      assert.equal(demoted.status, 200, demoted.text)
      for (const one of both) {
        assert.equal((await one.call(`GET ${at}/members`)).json.code, 'permission_required')
        assert.equal((await one.call(`GET ${at}`)).status, 200)
      }
      const deactivated = await owner.call(`PATCH ${at}/members/${id}`, { active: false })
      assert.equal(deactivated.status, 200, deactivated.text)
      for (const one of both) {
        assert.equal((await one.call(`GET ${at}`)).json.code, 'credential_revoked')
      }
      await owner.call(`PATCH ${at}/members/${id}`, { active: true })
      assert.equal((await owner.call(`DELETE ${at}/members/${id}`)).status, 200)
      for (const one of both) {
        const refused = await one.call(`GET ${at}`)
        assert.equal(refused.status, 401)
        assert.equal(refused.json.code, 'credential_revoked')
      }
      await node.stop()
    })

    test('a token that ends within two weeks is announced once', async () => {
      const ends = new Date(product.clock.now() + 10 * dayMs).toISOString()
      const { id } = await issuedBy(owner, { name: 'soon', expires_at: ends })
      const shown = await owner.call(`GET ${at}/access-tokens/${id}`)
      assert.equal(shown.json.state, 'expiring')
      await withStore(product, async (store) => {
        const take = async () =>
          await store.transaction(
            async (tx) => await accessTokens.takeExpiring(tx, tx.now + 14 * dayMs, 1000),
          )
        assert.ok((await take()).some((token) => token.id === id))
        assert.deepEqual(await take(), [])
      })
    })

    test('the command line issues, lists and revokes tokens, the operator’s too', async () => {
      const { env } = product
      const run = async (...words: string[]) => {
        const { code, out, err } = await intercept(['token', ...words, '--json'], { env })
        assert.equal(code, 0, err)
        return JSON.parse(out)
      }
      const issued = await run('issue', 'acme', '--name', 'ci', '--permission', 'keys.issue')
      const made = await program(issued.secret).call(`POST ${at}/keys`, { name: 'from ci' })
      assert.equal(made.status, 201, made.text)
      const listed: { id: string; state: string }[] = await run('list', 'acme')
      assert.equal(listed.find(({ id }) => id === issued.id)?.state, 'active')
      const revoked = await run('revoke', issued.id)
      assert.equal(revoked.confirmation.nodes, 1)
      assert.equal((await program(issued.secret).call(`GET ${at}`)).json.code, 'credential_revoked')

      const operator = program((await run('issue', '--operator', '--name', 'provisioning')).secret)
      const created = await operator.call('POST /operator/organizations', { slug: 'made' })
      assert.equal(created.status, 201, created.text)
      const planned = await operator.call('PUT /operator/organizations/made/plan', {
        plan: 'enterprise',
      })
      assert.equal(planned.json.plan, 'enterprise')
      const all = await operator.call('GET /operator/organizations')
      assert.ok(all.json.items.some((one: { slug: string }) => one.slug === 'made'))
    })

    test('every event that was published here is what the catalogue says of its type', async () => {
      const types = await withStore(product, async (store) => {
        const { id } = (await organizations.findBySlug(store, 'acme'))!
        return await eventsThatFit(store, id)
      })
      assert.ok(types.includes('access_token.issued'))
      assert.ok(types.includes('access_token.revoked'))
    })
  })
}

describe('guessed access tokens', () => {
  test('wrong tokens are limited by address, and the limit says when to come back', async () => {
    await using product = await productForTests({
      settings: { LIMIT_FAILED_CREDENTIALS: '1/s burst 3' },
    })
    await firstOwner(product)
    const wrong = programWith(product.baseUrl, 'svc_admin_nothing')
    const codes: string[] = []
    for (let attempt = 0; attempt < 6; attempt++) {
      const reply = await wrong.call(`GET ${at}`)
      codes.push(reply.json.code)
      if (reply.status === 429) assert.ok(Number(reply.headers.get('retry-after')) >= 1)
    }
    assert.equal(codes[0], 'credential_invalid')
    assert.equal(codes.at(-1), 'rate_limited')
  })

  test('a valid token works at an address that is over its limit for wrong ones', async () => {
    await using product = await productForTests({
      settings: { LIMIT_FAILED_CREDENTIALS: '1/s burst 3' },
    })
    const owner = await firstOwner(product)
    const { secret } = await issuedBy(owner, { permissions: ['traffic.see'] })
    const wrong = programWith(product.baseUrl, 'svc_admin_nothing')
    for (let attempt = 0; attempt < 6; attempt++) await wrong.call(`GET ${at}`)
    assert.equal((await wrong.call(`GET ${at}`)).json.code, 'rate_limited')
    assert.equal((await programWith(product.baseUrl, secret).call(`GET ${at}`)).status, 200)
  })
})

/** Waits for an effect that comes after the response. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + 10_000
  while (!(await isSo())) assert.ok(Date.now() < endsAt, 'it never came')
}
