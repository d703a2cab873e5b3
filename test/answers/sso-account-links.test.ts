import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { identities, memberships, organizations, users } from '../../src/store/index.ts'
import { patchUrn, scimCall, userUrn } from '../conformance/scim/directory.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import {
  firstOwner,
  memberOf,
  personWith,
  sessionOf,
  signedInByLink,
  withStore,
  type Person,
} from '../harness/person.ts'
import { atGithub, Jar, signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'
import { command, walk } from '../harness/sso.ts'
import { intercept } from '../harness/terminal.ts'

describe('how a person is linked and un-linked', () => {
  let parts: SignInProduct
  let idp: HostileIdp
  let successor: HostileIdp
  let owner: Person
  let admin: Person
  let neighbour: Person
  let ours: { id: string; start: string }
  let theirs: { id: string; start: string }

  before(async () => {
    idp = await hostileIdp({})
    successor = await hostileIdp({})
    parts = await signInProductForTests()
    owner = await firstOwner(parts.product)
    await command(parts.product, 'org set-plan acme enterprise')
    admin = await memberOf(parts.product, 'acme', { email: 'adam@acme.test', role: 'admin' })
    neighbour = await memberOf(parts.product, 'evil', { email: 'eve@evil.test', role: 'admin' })
    ours = await connect(owner, 'acme')
    theirs = await connect(neighbour, 'evil')
    await own('acme', owner, 'acme.test')
    await own('evil', neighbour, 'evil.test')
  })
  after(async () => {
    await parts[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
    await successor[Symbol.asyncDispose]()
  })

  async function connect(person: Person, slug: string, more: object = {}) {
    const made = await person.call(`POST /organizations/${slug}/connections`, {
      issuer: idp.issuerOf('honest'),
      clientId: 'intercept',
      clientSecret: 's',
      ...more,
    })
    assert.equal(made.status, 201, made.text)
    return { id: made.json.id as string, start: made.json.initiateLoginUri as string }
  }
  async function own(slug: string, person: Person, domain: string): Promise<void> {
    await person.call(`POST /organizations/${slug}/domains`, { name: domain })
    await command(parts.product, `sso verify-domain ${slug} ${domain} --override`)
  }
  async function arrive(start: string, claims: Record<string, unknown>) {
    const person = { email_verified: true, name: String(claims['sub']), ...claims } as never
    idp.person = person
    successor.person = person
    const answer = await walk(new Jar(), start)
    const text = await answer.text()
    return {
      status: answer.status,
      refused: answer.headers.get('intercept-refused'),
      person: personWith(parts.product.baseUrl, sessionOf(answer.headers)),
      text,
    }
  }
  async function invite(email: string, role: string): Promise<void> {
    const made = await owner.call('POST /organizations/acme/invitations', { email, role })
    assert.equal(made.status, 201, made.text)
  }
  async function tokenOf(person: Person, slug: string): Promise<{ secret: string; id: string }> {
    const issued = await person.call(`POST /organizations/${slug}/directory/tokens`, { name: 'x' })
    assert.equal(issued.status, 201, issued.text)
    return { secret: issued.json.secret as string, id: issued.json.token.id as string }
  }
  async function revoke(person: Person, slug: string, id: string): Promise<void> {
    const gone = await person.call(`POST /organizations/${slug}/directory/tokens/${id}/revoke`)
    assert.ok(gone.status < 300, gone.text)
  }
  async function send(token: string, userName: string, more: object = {}) {
    const body = { schemas: [userUrn], userName, active: true, ...more }
    return await scimCall(`${parts.product.baseUrl}/scim/v2/Users`, 'POST', { token, body })
  }
  async function roleOf(email: string, slug = 'acme'): Promise<string[]> {
    return await withStore(parts.product, async (store) => {
      const organization = await organizations.findBySlug(store, slug)
      const rows = await store.query
        .selectFrom('membership')
        .innerJoin('user', 'user.id', 'membership.user_id')
        .select('membership.role')
        .where('organization_id', '=', organization!.id)
        .where('user.email_key', '=', email)
        .execute()
      return rows.map(({ role }) => role)
    })
  }
  async function idIn(email: string, slug = 'acme'): Promise<string> {
    return await withStore(parts.product, async (store) => {
      const organization = await organizations.findBySlug(store, slug)
      const all = await memberships.list(store, organization!.id, { limit: 200 })
      return all.find((member) => member.email === email)?.id ?? ''
    })
  }
  async function save(person: Person): Promise<void> {
    const path = `/organizations/acme/connections/${ours.id}`
    const saved = await person.call(`PATCH ${path}`, { name: 'The company' })
    assert.equal(saved.status, 200, saved.text)
  }

  describe('a way in gives no more than its maker could give', () => {
    test("an owner's invitation is not accepted through a connection that an administrator set up", async () => {
      await invite('cofounder@acme.test', 'owner')
      await save(admin)
      const claims = { sub: 'not-the-cofounder', email: 'cofounder@acme.test' }
      const refused = await arrive(ours.start, claims)
      assert.deepEqual([refused.status, refused.refused], [403, 'sso_not_admitted'])
      assert.match(refused.text, /no owner has set up/)
      assert.deepEqual(await roleOf('cofounder@acme.test'), [])
      // Once an owner stands behind the connection, the invitation opens.
      await save(owner)
      const admitted = await arrive(ours.start, claims)
      assert.equal(admitted.status, 200, admitted.text)
      assert.deepEqual(await roleOf('cofounder@acme.test'), ['owner'])
    })

    test("nor from the person's page, with a session of that connection", async () => {
      await save(admin)
      const claims = { sub: 'sly', email: 'sly@acme.test' }
      const member = await arrive(ours.start, claims)
      assert.equal(member.status, 200, member.text)
      await owner.call(`DELETE /organizations/acme/members/${await idIn('sly@acme.test')}`)
      const before = await arrive(ours.start, claims)
      assert.equal(before.status, 200, before.text)
      await owner.call(`DELETE /organizations/acme/members/${await idIn('sly@acme.test')}`)
      await invite('sly@acme.test', 'owner')
      const again = await arrive(ours.start, claims)
      assert.equal(again.refused, 'sso_not_admitted')
      assert.deepEqual(await roleOf('sly@acme.test'), [])
      await save(owner)
    })

    test("a neighbour's provider opens no invitation of this organization", async () => {
      await own('evil', neighbour, 'partner.test')
      const start = await arrive(theirs.start, { sub: 'paula', email: 'paula@partner.test' })
      assert.equal(start.status, 200, start.text)
      const link = await owner.call('POST /organizations/acme/invitations', {
        email: 'paula@partner.test',
        role: 'owner',
      })
      const token = String(link.json.link).split('/').at(-1)
      const accepted = await start.person.call('POST /invitations/accept', { token })
      assert.equal(accepted.status, 403, accepted.text)
      assert.deepEqual(await roleOf('paula@partner.test'), [])
    })

    test('who became an owner after an administrator linked them confirms before the provider opens that account', async () => {
      await save(admin)
      const claims = { sub: 'rosa', email: 'rosa@acme.test' }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      const member = `/organizations/acme/members/${await idIn('rosa@acme.test')}`
      assert.equal((await owner.call(`PATCH ${member}`, { role: 'owner' })).status, 200)
      const asked = await arrive(ours.start, claims)
      assert.equal(asked.refused, 'sso_confirmation_required')
      // An owner who saves the connection stands behind the links that it has made.
      await save(owner)
      assert.equal((await arrive(ours.start, claims)).status, 200)
      // And a later edit by an administrator locks no owner out: issuer and subject are what they were.
      await save(admin)
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await save(owner)
    })

    test("a link that an administrator's directory made does not become an owner's by a save", async () => {
      const token = await tokenOf(admin, 'acme')
      const claims = { sub: 'mallory', email: 'vera@acme.test' }
      assert.equal((await send(token.secret, 'vera@acme.test')).status, 201)
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await revoke(admin, 'acme', token.id)
      const member = `/organizations/acme/members/${await idIn('vera@acme.test')}`
      assert.equal((await owner.call(`PATCH ${member}`, { role: 'owner' })).status, 200)
      await save(owner)
      assert.equal((await arrive(ours.start, claims)).refused, 'sso_confirmation_required')
    })
  })

  describe('an address that a directory wrote counts in its organization only', () => {
    let evil: { secret: string; id: string }
    before(async () => {
      evil = await tokenOf(neighbour, 'evil')
      for (const name of ['first', 'hub', 'oncall', 'target']) {
        const sent = await send(evil.secret, `${name}@acme.test`)
        assert.equal(sent.status, 201, JSON.stringify(sent.body))
      }
    })
    after(async () => await revoke(neighbour, 'evil', evil.id))

    test("it stops nobody's first sign-in through their own company", async () => {
      const first = await arrive(ours.start, { sub: 'first', email: 'first@acme.test' })
      assert.equal(first.status, 200, first.text)
      assert.deepEqual(await roleOf('first@acme.test'), ['viewer'])
    })

    test("it stops nobody's first sign-in through GitHub", async () => {
      parts.github.people.set('hub', {
        id: 4242,
        login: 'hub',
        emails: [{ email: 'hub@acme.test', primary: true, verified: true }],
      })
      await invite('hub@acme.test', 'developer')
      const jar = new Jar()
      const answer = await jar.fetch(await atGithub(jar, parts, 'hub'))
      assert.equal(answer.status, 200, await answer.text())
      assert.deepEqual(await roleOf('hub@acme.test'), ['developer'])
    })

    test('sign-in-link means the person whose address is proven; --org and ids name the others', async () => {
      await memberOf(parts.product, 'acme', { email: 'oncall@acme.test', role: 'owner' })
      const run = async (...words: string[]) =>
        await intercept(['sign-in-link', ...words, '--json'], { env: { ...parts.product.env } })
      const who = async (out: string): Promise<string[]> => {
        const { url } = JSON.parse(out) as { url: string }
        const token = new URL(url).searchParams.get('token') ?? ''
        const answer = await fetch(`${parts.product.baseUrl}/sign-in-link`, {
          method: 'POST',
          headers: { origin: parts.product.baseUrl },
          body: new URLSearchParams({ token }),
        })
        const me = await personWith(parts.product.baseUrl, sessionOf(answer.headers)).call(
          'GET /me',
        )
        return me.json.organizations.map((one: { slug: string }) => one.slug)
      }
      assert.deepEqual(await who((await run('oncall@acme.test')).out), ['acme'])
      assert.deepEqual(await who((await run('oncall@acme.test', '--org', 'evil')).out), ['evil'])
      const id = await withStore(parts.product, async (store) => {
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
      // The neighbour's own person is invited to acme under a true address of theirs.
      const person = await withStore(parts.product, async (store) => {
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
      const token = await tokenOf(owner, 'acme')
      const sent = await send(token.secret, 'the-boss', { emails: [{ value: 'target@acme.test' }] })
      assert.equal(sent.status, 201)
      const whose = await withStore(parts.product, async (store) => {
        const row = await store.query
          .selectFrom('directory_user')
          .select('user_id')
          .where('id', '=', String(sent.body.id))
          .executeTakeFirstOrThrow()
        return row.user_id
      })
      assert.notEqual(whose, person)
      await revoke(owner, 'acme', token.id)
    })

    test('it counts everywhere once the organization has proven the domain', async () => {
      await own('evil', neighbour, 'proven.test')
      assert.equal((await send(evil.secret, 'ann@proven.test')).status, 201)
      parts.github.people.set('ann', {
        id: 4343,
        login: 'ann',
        emails: [{ email: 'ann@proven.test', primary: true, verified: true }],
      })
      const jar = new Jar()
      const answer = await jar.fetch(await atGithub(jar, parts, 'ann'))
      assert.equal(answer.headers.get('intercept-refused'), 'account_exists')
    })
  })

  describe('connections come and go', () => {
    test('people who know only a deleted connection come in by the one that replaces it', async () => {
      const claims = { sub: 'sso-only', email: 'sso-only@acme.test' }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      const gone = await owner.call(`DELETE /organizations/acme/connections/${ours.id}`)
      assert.equal(gone.status, 204, gone.text)
      ours = await connect(owner, 'acme')
      const back = await arrive(ours.start, claims)
      assert.equal(back.status, 200, back.text)
      assert.deepEqual(await roleOf('sso-only@acme.test'), ['viewer'])
    })

    test('and by a connection whose issuer has changed; another subject of the same issuer still confirms', async () => {
      const claims = { sub: 'mover', email: 'mover@acme.test' }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      const recycled = await arrive(ours.start, { ...claims, sub: 'mover-2' })
      assert.equal(recycled.refused, 'sso_confirmation_required')
      const moved = await owner.call(`PATCH /organizations/acme/connections/${ours.id}`, {
        issuer: successor.issuerOf('honest'),
        clientSecret: 's',
      })
      assert.equal(moved.status, 200, moved.text)
      const back = await arrive(ours.start, { ...claims, sub: 'mover-at-the-new-one' })
      assert.equal(back.status, 200, back.text)
      assert.deepEqual(await roleOf('mover@acme.test'), ['viewer'])
    })

    test("a connection re-made by an administrator does not reach an owner's account unasked", async () => {
      await memberOf(parts.product, 'acme', { email: 'second@acme.test', role: 'owner' })
      const claims = { sub: 'second', email: 'second@acme.test' }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await admin.call(`DELETE /organizations/acme/connections/${ours.id}`)
      ours = await connect(admin, 'acme')
      assert.equal((await arrive(ours.start, claims)).refused, 'sso_confirmation_required')
      await save(owner)
      assert.equal((await arrive(ours.start, claims)).status, 200)
    })

    test('an account that other sign-ins open is not linked by a connection that replaces another', async () => {
      const email = 'both@acme.test'
      const claims = { sub: 'both', email }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await withStore(parts.product, async (store) => {
        const [user] = await users.listByEmail(store, email)
        await store.transaction(
          async (tx) =>
            await identities.insert(tx, {
              id: `idn_${'b'.repeat(22)}` as never,
              userId: user!.id,
              provider: 'github',
              connectionId: '',
              issuer: 'https://github.com',
              subject: 'both',
              email,
              emailVerified: true,
              name: undefined,
            }),
        )
      })
      await owner.call(`DELETE /organizations/acme/connections/${ours.id}`)
      ours = await connect(owner, 'acme')
      assert.equal((await arrive(ours.start, claims)).refused, 'sso_confirmation_required')
    })

    test('a way in that still works is not removed because a dead one is left', async () => {
      const email = 'tidy@acme.test'
      assert.equal((await arrive(ours.start, { sub: 'tidy', email })).status, 200)
      await owner.call(`DELETE /organizations/acme/connections/${ours.id}`)
      ours = await connect(owner, 'acme')
      assert.equal((await arrive(ours.start, { sub: 'tidy', email })).status, 200)
      const person = await signedInByLink(parts.product, email)
      const all = (await person.call('GET /me')).json.identities as { id: string }[]
      assert.equal(all.length, 2)
      const [dead, living] = all
      const kept = await person.call(`DELETE /me/identities/${living!.id}`)
      assert.equal(kept.status, 409, kept.text)
      assert.equal((await person.call(`DELETE /me/identities/${dead!.id}`)).status, 204)
    })
  })

  describe('who was removed is judged as new', () => {
    const removed = async (email: string): Promise<void> => {
      const gone = await owner.call(`DELETE /organizations/acme/members/${await idIn(email)}`)
      assert.equal(gone.status, 200, gone.text)
    }

    test('they come back by an invitation, in the role that it gives', async () => {
      const claims = { sub: 'back', email: 'back@acme.test' }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await removed('back@acme.test')
      await invite('back@acme.test', 'developer')
      const back = await arrive(ours.start, claims)
      assert.equal(back.status, 200, back.text)
      assert.deepEqual(await roleOf('back@acme.test'), ['developer'])
    })

    test('they come back by the directory that sends them again', async () => {
      const token = await tokenOf(owner, 'acme')
      const claims = { sub: 'sent', email: 'sent@acme.test' }
      const sent = await send(token.secret, 'sent@acme.test', { externalId: 'hr-sent' })
      assert.equal(sent.status, 201)
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await removed('sent@acme.test')
      assert.equal((await arrive(ours.start, claims)).refused, 'sso_membership_ended')
      const path = `${parts.product.baseUrl}/scim/v2/Users/${String(sent.body.id)}`
      await scimCall(path, 'DELETE', { token: token.secret })
      const again = await send(token.secret, 'sent@acme.test', { externalId: 'hr-sent' })
      assert.equal(again.status, 201, JSON.stringify(again.body))
      const back = await arrive(ours.start, claims)
      assert.equal(back.status, 200, back.text)
      // Who is deactivated stays out.
      await scimCall(`${parts.product.baseUrl}/scim/v2/Users/${String(again.body.id)}`, 'PATCH', {
        token: token.secret,
        body: { schemas: [patchUrn], Operations: [{ op: 'replace', value: { active: false } }] },
      })
      assert.equal((await arrive(ours.start, claims)).refused, 'sso_membership_ended')
      await revoke(owner, 'acme', token.id)
    })

    test('they come back by their domain where that lets new people in, and not where it does not', async () => {
      const claims = { sub: 'gone', email: 'gone@acme.test' }
      assert.equal((await arrive(ours.start, claims)).status, 200)
      await removed('gone@acme.test')
      const path = `PATCH /organizations/acme/connections/${ours.id}`
      await owner.call(path, { admitsNewPeople: false })
      assert.equal((await arrive(ours.start, claims)).refused, 'sso_not_admitted')
      await owner.call(path, { admitsNewPeople: true })
      assert.equal((await arrive(ours.start, claims)).status, 200)
    })
  })

  test('people who came in by their domain stay out while SCIM is on, until the directory sends them', async () => {
    const claims = { sub: 'jit', email: 'jit@acme.test' }
    assert.equal((await arrive(ours.start, claims)).status, 200)
    const token = await tokenOf(owner, 'acme')
    assert.equal((await arrive(ours.start, claims)).refused, 'sso_not_admitted')
    assert.equal((await send(token.secret, 'jit@acme.test')).status, 201)
    assert.equal((await arrive(ours.start, claims)).status, 200)
    await revoke(owner, 'acme', token.id)
  })
})
