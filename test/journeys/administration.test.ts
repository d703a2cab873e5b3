import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { organizations } from '../../src/store/index.ts'
import { eventsThatFit } from '../harness/events.ts'
import {
  addMember,
  firstOwner,
  memberOf,
  personWith,
  withLinks,
  withStore,
  type Person,
} from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { engines } from '../harness/store.ts'

for (const engine of engines) {
  describe(`administration on ${engine}`, () => {
    let product: TestProduct
    let owner: Person
    before(async () => {
      product = await productForTests({ engine })
      owner = await firstOwner(product)
    })
    after(async () => await product[Symbol.asyncDispose]())

    test('the setup link makes the first owner once; the second use and a stranger get nothing', async () => {
      const me = await owner.call('GET /me')
      assert.equal(me.status, 200)
      assert.equal(me.json.organizations[0].role, 'owner')
      assert.equal(await withLinks(product, async (links) => await links.setupLink()), undefined)
      const stranger = personWith(product.baseUrl)
      const again = await stranger.call('POST /setup', {
        token: 'x'.repeat(43),
        name: 'Eve',
        email: 'eve@x.test',
        organization: { slug: 'eve' },
      })
      assert.equal(again.json.code, 'link_invalid')
      assert.equal(stranger.cookie, undefined)
    })

    test('the cookie is exactly __Host-session; HttpOnly; Secure; SameSite=Strict; Path=/', async () => {
      const link = await withLinks(
        product,
        async (links) => await links.signInLink('olga@acme.test'),
      )
      assert.ok(link.startsWith(`${product.baseUrl}/sign-in-link?token=`))
      const answer = await fetch(`${product.baseUrl}/sign-in-link`, {
        method: 'POST',
        headers: { origin: product.baseUrl },
        body: new URLSearchParams({ token: new URL(link).searchParams.get('token') ?? '' }),
      })
      const [cookie = ''] = answer.headers.getSetCookie()
      const [pair = '', ...attributes] = cookie.split('; ')
      assert.match(pair, /^__Host-session=[\w-]+\.[\w-]+\.[\w-]+$/)
      assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
      assert.ok(cookie.length <= 4096)
      assert.ok(!(await answer.text()).includes(pair.split('=')[1]!))
    })

    test('a sign-in link ends the session that the browser had', async () => {
      const email = 'replaced@acme.test'
      const before = await memberOf(product, 'acme', { email, role: 'viewer' })
      const link = await withLinks(product, async (links) => await links.signInLink(email))
      const answer = await fetch(`${product.baseUrl}/sign-in-link`, {
        method: 'POST',
        headers: { origin: product.baseUrl, cookie: `__Host-session=${before.cookie}` },
        body: new URLSearchParams({ token: new URL(link).searchParams.get('token') ?? '' }),
      })
      assert.equal(answer.status, 200)
      assert.equal((await before.call('GET /me')).json.code, 'session_ended')
    })

    test('a session that was ended is refused on its next request, here and on another node', async () => {
      const node = await product.anotherNode()
      const other = personWith(product.baseUrl, owner.cookie, `http://127.0.0.1:${node.port}`)
      const there0 = await other.call('GET /me')
      assert.equal(there0.status, 200, there0.text)
      const victim = await signInAgain(product)
      const there = personWith(product.baseUrl, victim.cookie, `http://127.0.0.1:${node.port}`)
      assert.equal((await there.call('GET /me')).status, 200)
      const listed = await victim.call('GET /me/sessions')
      const own = listed.json.items.find((one: { current: boolean }) => one.current)
      const ended = await owner.call(`DELETE /me/sessions/${own.id}`)
      assert.equal(ended.status, 200)
      assert.equal(ended.json.confirmation.nodes, 2)
      assert.equal((await victim.call('GET /me')).json.code, 'session_ended')
      assert.equal((await there.call('GET /me')).json.code, 'session_ended')
      await node.stop()
    })

    test('a key’s secret is answered once and shown nowhere later', async () => {
      const issued = await owner.call('POST /organizations/acme/keys', { name: 'first' })
      assert.equal(issued.status, 201)
      assert.equal(issued.headers.get('cache-control'), 'no-store')
      assert.match(issued.json.secret, /^svc_live_/)
      const listed = await owner.call('GET /organizations/acme/keys')
      assert.equal(listed.json.items[0].id, issued.json.key.id)
      assert.ok(!listed.text.includes(issued.json.secret))
      const audit = await owner.call('GET /organizations/acme/audit')
      assert.ok(!audit.text.includes(issued.json.secret))
      const revoked = await owner.call(`POST /organizations/acme/keys/${issued.json.key.id}/revoke`)
      assert.equal(revoked.json.key.state, 'revoked')
    })

    test('an Idempotency-Key makes a repeated creation happen once, and stands for one request', async () => {
      const head = { 'idempotency-key': 'abc' }
      const first = await owner.call('POST /organizations/acme/keys', { name: 'once' }, head)
      const second = await owner.call('POST /organizations/acme/keys', { name: 'once' }, head)
      assert.equal(second.status, 201)
      assert.equal(second.json.secret, first.json.secret)
      const other = await owner.call('POST /organizations/acme/keys', { name: 'two' }, head)
      assert.equal(other.json.code, 'idempotency_conflict')
      const found = await owner.call('GET /organizations/acme/keys?search=once')
      assert.equal(found.json.items.length, 1)
    })

    test('If-Match holds an edit to the version that was read', async () => {
      const read = await owner.call('GET /organizations/acme')
      const etag = read.headers.get('etag') ?? ''
      const head = { 'if-match': etag }
      const edited = await owner.call('PATCH /organizations/acme', { name: 'Acme 2' }, head)
      assert.equal(edited.status, 200)
      assert.notEqual(edited.headers.get('etag'), etag)
      const stale = await owner.call('PATCH /organizations/acme', { name: 'Acme 3' }, head)
      assert.equal(stale.status, 412)
    })

    test('If-Match holds every change of a member to the version that was read', async () => {
      await addMember(product, 'acme', { email: 'versions@acme.test', role: 'viewer' })
      const found = await owner.call('GET /organizations/acme/members?search=versions@')
      const path = `/organizations/acme/members/${found.json.items[0].id}`
      const head = { 'if-match': (await owner.call(`GET ${path}`)).headers.get('etag') ?? '' }
      assert.equal((await owner.call(`PATCH ${path}`, { role: 'admin' }, head)).status, 200)
      for (const attempt of [
        await owner.call(`PATCH ${path}`, { role: 'admin' }, head),
        await owner.call(`PATCH ${path}`, { active: false }, head),
        await owner.call(`PATCH ${path}`, { active: true }, head),
        await owner.call(`DELETE ${path}`, undefined, head),
      ]) {
        assert.deepEqual([attempt.status, attempt.json.code], [412, 'version_conflict'])
      }
      const now = await owner.call(`GET ${path}`)
      assert.equal(now.json.deactivated_at, null)
      const both = { 'if-match': now.headers.get('etag') ?? '' }
      const change = { role: 'developer', active: false }
      assert.equal((await owner.call(`PATCH ${path}`, change, both)).status, 200)
    })

    test('the last owner is neither demoted, deactivated nor removed', async () => {
      const members = await owner.call('GET /organizations/acme/members')
      const path = `/organizations/acme/members/${members.json.items[0].id}`
      for (const attempt of [
        await owner.call(`PATCH ${path}`, { role: 'viewer' }),
        await owner.call(`PATCH ${path}`, { active: false }),
        await owner.call(`DELETE ${path}`),
      ]) {
        assert.equal(attempt.status, 409)
        assert.equal(attempt.json.code, 'last_owner')
      }
    })

    test('pages follow one another without a gap', async () => {
      for (const name of ['p1', 'p2', 'p3']) {
        await owner.call('POST /organizations/acme/keys', { name })
      }
      const names: string[] = []
      let next: string | null = ''
      while (next !== null) {
        const cursor: string = next === '' ? '' : `&after=${next}`
        const page = await owner.call(`GET /organizations/acme/keys?limit=2${cursor}`)
        names.push(...page.json.items.map((key: { name: string }) => key.name))
        next = page.json.next
      }
      assert.deepEqual(names.slice(0, 3), ['p3', 'p2', 'p1'])
      assert.equal(new Set(names).size, names.length)
    })

    test('every event that was published here is what the catalogue says of its type', async () => {
      const types = await withStore(product, async (store) => {
        const { id } = (await organizations.findBySlug(store, 'acme'))!
        return await eventsThatFit(store, id)
      })
      assert.ok(types.length > 0)
    })

    async function signInAgain(of: TestProduct): Promise<Person> {
      const link = await withLinks(of, async (links) => await links.signInLink('olga@acme.test'))
      const answer = await fetch(`${of.baseUrl}/sign-in-link`, {
        method: 'POST',
        headers: { origin: of.baseUrl },
        body: new URLSearchParams({ token: new URL(link).searchParams.get('token') ?? '' }),
      })
      const [cookie = ''] = answer.headers.getSetCookie()
      return personWith(of.baseUrl, /__Host-session=([^;]+)/.exec(cookie)?.[1])
    }
  })
}
