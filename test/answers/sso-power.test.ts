import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { memberships, organizations, users } from '../../src/store/index.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import { memberOf, personWith, sessionOf, withStore, type Person } from '../harness/person.ts'
import { atGithub, Jar } from '../harness/sign-in.ts'
import { intercept } from '../harness/terminal.ts'

describe('whom an organization can reach', () => {
  let place: Neighbours
  before(async () => {
    place = await neighboursForTests()
  })
  after(async () => await place[Symbol.asyncDispose]())

  describe('a way in gives no more than its maker could give', () => {
    test("an owner's invitation is not accepted through a connection that an administrator set up", async () => {
      await place.invite('cofounder@acme.test', 'owner')
      await place.save(place.admin, place.ours)
      const claims = { sub: 'not-the-cofounder', email: 'cofounder@acme.test' }
      const refused = await place.arrive(place.ours.start, claims)
      assert.deepEqual([refused.status, refused.refused], [403, 'sso_not_admitted'])
      assert.match(refused.text, /no owner has set up/)
      assert.deepEqual(await place.roleOf('cofounder@acme.test'), [])
      // Once an owner has approved the connection, the invitation works.
      await place.save(place.owner, place.ours)
      const admitted = await place.arrive(place.ours.start, claims)
      assert.equal(admitted.status, 200, admitted.text)
      assert.deepEqual(await place.roleOf('cofounder@acme.test'), ['owner'])
    })

    test("nor from the person's page, with a session of that connection", async () => {
      await place.save(place.admin, place.ours)
      const claims = { sub: 'sly', email: 'sly@acme.test' }
      const member = await place.arrive(place.ours.start, claims)
      assert.equal(member.status, 200, member.text)
      await place.owner.call(
        `DELETE /organizations/acme/members/${await place.idIn('sly@acme.test')}`,
      )
      const before = await place.arrive(place.ours.start, claims)
      assert.equal(before.status, 200, before.text)
      await place.owner.call(
        `DELETE /organizations/acme/members/${await place.idIn('sly@acme.test')}`,
      )
      await place.invite('sly@acme.test', 'owner')
      const again = await place.arrive(place.ours.start, claims)
      assert.equal(again.refused, 'sso_not_admitted')
      assert.deepEqual(await place.roleOf('sly@acme.test'), [])
      await place.save(place.owner, place.ours)
    })

    test("a neighbour's provider opens no invitation of this organization", async () => {
      await place.own('evil', place.neighbour, 'partner.test')
      const start = await place.arrive(place.theirs.start, {
        sub: 'paula',
        email: 'paula@partner.test',
      })
      assert.equal(start.status, 200, start.text)
      const link = await place.owner.call('POST /organizations/acme/invitations', {
        email: 'paula@partner.test',
        role: 'owner',
      })
      const token = String(link.json.link).split('/').at(-1)
      const accepted = await start.person.call('POST /invitations/accept', { token })
      assert.equal(accepted.status, 403, accepted.text)
      assert.deepEqual(await place.roleOf('paula@partner.test'), [])
    })

    test('who became an owner after an administrator linked them confirms before the provider opens that account', async () => {
      await place.save(place.admin, place.ours)
      const claims = { sub: 'rosa', email: 'rosa@acme.test' }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      const member = `/organizations/acme/members/${await place.idIn('rosa@acme.test')}`
      assert.equal((await place.owner.call(`PATCH ${member}`, { role: 'owner' })).status, 200)
      const asked = await place.arrive(place.ours.start, claims)
      assert.equal(asked.refused, 'sso_confirmation_required')
      // By saving the connection, an owner approves the accounts that have been linked through it.
      await place.save(place.owner, place.ours)
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      // A later edit by an administrator locks no owner out, because issuer and subject are unchanged.
      await place.save(place.admin, place.ours)
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await place.save(place.owner, place.ours)
    })

    test('a save vouches for links of the issuer that the owner sees, not for those an administrator can bring back', async () => {
      const made = await place.connect(place.admin, 'acme', { client_id: 'third' })
      const path = `PATCH /organizations/acme/connections/${made.id}`
      const move = async (person: Person, issuer: string) => {
        const moved = await person.call(path, { issuer, client_secret: 's' })
        assert.equal(moved.status, 200, moved.text)
      }
      const claims = { sub: 'planted', email: 'wilma@acme.test' }
      assert.equal((await place.arrive(made.start, claims)).status, 200)
      await move(place.admin, place.successor.issuerOf('honest'))
      assert.equal((await place.owner.call(path, { name: 'Ours now' })).status, 200)
      const member = `/organizations/acme/members/${await place.idIn('wilma@acme.test')}`
      assert.equal((await place.owner.call(`PATCH ${member}`, { role: 'owner' })).status, 200)
      await move(place.admin, place.idp.issuerOf('honest'))
      const back = await place.arrive(made.start, claims)
      assert.equal(back.refused, 'sso_confirmation_required')
      await place.owner.call(`DELETE /organizations/acme/connections/${made.id}`)
    })

    test('an administrator names the first owners for emergencies; from then on only owners change them', async () => {
      await memberOf(place.product, 'acme', { email: 'second@acme.test', role: 'owner' })
      const first = (await place.owner.call('GET /me')).json.id as string
      const { items } = (await place.owner.call('GET /organizations/acme/members?limit=200')).json
      const { user_id: second } = items.find(
        (one: { email: string }) => one.email === 'second@acme.test',
      )
      const set = async (person: Person, break_glass: string[], required = false) =>
        await person.call('PUT /organizations/acme/sso', { required, break_glass })
      assert.equal((await set(place.admin, [first])).status, 200)
      for (const swapped of [[second], [first, second], []]) {
        const refused = await set(place.admin, swapped)
        assert.deepEqual([refused.status, refused.json.code], [403, 'permission_required'])
      }
      assert.equal((await set(place.admin, [first], true)).status, 200, 'the requirement is theirs')
      assert.equal((await set(place.owner, [second])).status, 200)
      assert.equal((await set(place.admin, [second])).status, 200)
      assert.equal((await set(place.owner, [])).status, 200)
    })

    test("a link that an administrator's directory made does not become an owner's by a save", async () => {
      const token = await place.tokenOf(place.admin, 'acme')
      const claims = { sub: 'mallory', email: 'vera@acme.test' }
      assert.equal((await place.send(token.secret, 'vera@acme.test')).status, 201)
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await place.revoke(place.admin, 'acme', token.id)
      const member = `/organizations/acme/members/${await place.idIn('vera@acme.test')}`
      assert.equal((await place.owner.call(`PATCH ${member}`, { role: 'owner' })).status, 200)
      await place.save(place.owner, place.ours)
      assert.equal(
        (await place.arrive(place.ours.start, claims)).refused,
        'sso_confirmation_required',
      )
    })
  })

  describe('an address that a directory wrote counts in its organization only', () => {
    let evil: { secret: string; id: string }
    before(async () => {
      evil = await place.tokenOf(place.neighbour, 'evil')
      for (const name of ['first', 'hub', 'oncall', 'target']) {
        const sent = await place.send(evil.secret, `${name}@acme.test`)
        assert.equal(sent.status, 201, JSON.stringify(sent.body))
      }
    })
    after(async () => await place.revoke(place.neighbour, 'evil', evil.id))

    test("it stops nobody's first sign-in through their own company", async () => {
      const first = await place.arrive(place.ours.start, { sub: 'first', email: 'first@acme.test' })
      assert.equal(first.status, 200, first.text)
      assert.deepEqual(await place.roleOf('first@acme.test'), ['viewer'])
    })

    test("it stops nobody's first sign-in through GitHub", async () => {
      place.parts.github.people.set('hub', {
        id: 4242,
        login: 'hub',
        emails: [{ email: 'hub@acme.test', primary: true, verified: true }],
      })
      await place.invite('hub@acme.test', 'developer')
      const jar = new Jar()
      const answer = await jar.fetch(await atGithub(jar, place.parts, 'hub'))
      assert.equal(answer.status, 200, await answer.text())
      assert.deepEqual(await place.roleOf('hub@acme.test'), ['developer'])
    })

    test('sign-in-link means the person whose address is proven; --org and ids name the others', async () => {
      await memberOf(place.product, 'acme', { email: 'oncall@acme.test', role: 'owner' })
      const run = async (...words: string[]) =>
        await intercept(['sign-in-link', ...words, '--json'], { env: { ...place.product.env } })
      const who = async (out: string): Promise<string[]> => {
        const { url } = JSON.parse(out) as { url: string }
        const token = new URL(url).searchParams.get('token') ?? ''
        const answer = await fetch(`${place.product.baseUrl}/sign-in-link`, {
          method: 'POST',
          headers: { origin: place.product.baseUrl },
          body: new URLSearchParams({ token }),
        })
        const me = await personWith(place.product.baseUrl, sessionOf(answer.headers)).call(
          'GET /me',
        )
        return me.json.organizations.map((one: { slug: string }) => one.slug)
      }
      assert.deepEqual(await who((await run('oncall@acme.test')).out), ['acme'])
      assert.deepEqual(await who((await run('oncall@acme.test', '--org', 'evil')).out), ['evil'])
      const id = await withStore(place.product, async (store) => {
        const found = await store.query
          .selectFrom('user')
          .select('id')
          .where('email_key', '=', 'oncall@acme.test')
          .orderBy('id')
          .execute()
        return String(found[0]?.id)
      })
      assert.deepEqual(await who((await run(id)).out), ['evil'])
    })

    test("it brings no neighbour into another organization's directory", async () => {
      // The other organization's directory created this user; add the user to acme as well.
      const person = await withStore(place.product, async (store) => {
        const rows = await users.listByEmail(store, 'target@acme.test', 'anywhere')
        const organization = await organizations.findBySlug(store, 'acme')
        await store.transaction(
          async (tx) =>
            await memberships.insert(tx, {
              id: `mem_${'x'.repeat(22)}` as never,
              organizationId: organization!.id,
              userId: rows[0]!.id,
              role: 'viewer',
              source: 'invitation',
            }),
        )
        return rows[0]!.id
      })
      const token = await place.tokenOf(place.owner, 'acme')
      const sent = await place.send(token.secret, 'the-boss', {
        emails: [{ value: 'target@acme.test' }],
      })
      assert.equal(sent.status, 201)
      const whose = await withStore(place.product, async (store) => {
        const row = await store.query
          .selectFrom('directory_user')
          .select('user_id')
          .where('id', '=', String(sent.body.id))
          .executeTakeFirstOrThrow()
        return row.user_id
      })
      assert.notEqual(whose, person)
      await place.revoke(place.owner, 'acme', token.id)
    })

    test('it counts everywhere once the organization has proven the domain', async () => {
      await place.own('evil', place.neighbour, 'proven.test')
      assert.equal((await place.send(evil.secret, 'ann@proven.test')).status, 201)
      place.parts.github.people.set('ann', {
        id: 4343,
        login: 'ann',
        emails: [{ email: 'ann@proven.test', primary: true, verified: true }],
      })
      const jar = new Jar()
      const answer = await jar.fetch(await atGithub(jar, place.parts, 'ann'))
      assert.equal(answer.headers.get('intercept-refused'), 'account_exists')
    })
  })
})
