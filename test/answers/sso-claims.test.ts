import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { auditEntries, organizations } from '../../src/store/index.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import { withStore } from '../harness/person.ts'

describe('what a provider says of a person, and what becomes of it', () => {
  let place: Neighbours
  before(async () => {
    place = await neighboursForTests()
  })
  after(async () => await place[Symbol.asyncDispose]())

  async function audit(action: string) {
    return await withStore(place.product, async (store) => {
      const { id } = (await organizations.findBySlug(store, 'acme'))!
      const rows = await auditEntries.listFrom(store, {
        organizationId: id,
        fromSequence: 0,
        limit: 10_000,
      })
      return rows
        .filter((row) => row.action === action)
        .map((row) => ({ actor: row.actor_name, detail: JSON.parse(row.detail) }))
    })
  }
  const one = () => `/organizations/acme/connections/${place.ours.id}`

  describe('a Google connection', () => {
    let google: { start: string }
    before(async () => {
      google = await place.connect(place.owner, 'acme', { kind: 'google', client_id: 'google' })
    })

    test('admits accounts of the Workspace whose domain the organization has verified', async () => {
      const claims = { sub: 'g-in', email: 'in@acme.test', hd: 'acme.test' }
      const admitted = await place.arrive(google.start, claims)
      assert.equal(admitted.status, 200, admitted.text)
    })

    for (const [name, hd, sentence] of [
      ['a personal account with a verified address of the domain', undefined, /personal Google/],
      ['an account of another Workspace', 'elsewhere.test', /belongs to elsewhere\.test/],
    ] as const) {
      test(`refuses ${name}`, async () => {
        const claims = { sub: `g-${String(hd)}`, email: 'out@acme.test', ...(hd && { hd }) }
        const refused = await place.arrive(google.start, claims)
        assert.equal(refused.refused, 'sso_domain_mismatch')
        assert.match(refused.text, sentence)
      })
    }
  })

  describe('roles by groups', () => {
    before(async () => {
      const groupRoles = [{ group: 'admins', role: 'admin' }]
      assert.equal(
        (await place.owner.call(`PATCH ${one()}`, { group_roles: groupRoles })).status,
        200,
      )
    })

    for (const [name, claims, said] of [
      ['without the claim', {}, 'not_sent'],
      ['with an overage instead of it', { _claim_names: { groups: 'src1' } }, 'too_many'],
      ['with hasgroups instead of it', { hasgroups: true }, 'too_many'],
    ] as const) {
      test(`a sign-in ${name} changes no role, and the audit log says why`, async () => {
        const sub = `overage-${said}-${Object.keys(claims).join('')}`
        const email = `${sub.replaceAll('_', '-')}@acme.test`
        const first = await place.arrive(place.ours.start, { sub, email, groups: ['admins'] })
        assert.equal(first.status, 200, first.text)
        assert.deepEqual(await place.roleOf(email), ['admin'])
        assert.equal((await place.arrive(place.ours.start, { sub, email, ...claims })).status, 200)
        assert.deepEqual(await place.roleOf(email), ['admin'])
        assert.equal((await audit('sso.signed_in')).at(-1)?.detail.groups, said)
        // An empty list of groups is still a list, unlike a missing one.
        await place.arrive(place.ours.start, { sub, email, groups: [] })
        assert.deepEqual(await place.roleOf(email), ['viewer'])
      })
    }

    test('the group that decides counts among more than 1,000', async () => {
      const groups = [...Array.from({ length: 1_500 }, (_, at) => `g${at}`), 'admins']
      const claims = { sub: 'many', email: 'many@acme.test', groups }
      const admitted = await place.arrive(place.ours.start, claims)
      assert.equal(admitted.status, 200, admitted.text)
      assert.deepEqual(await place.roleOf('many@acme.test'), ['admin'])
    })

    test("a role change by groups ends the person's other sessions", async () => {
      const claims = { sub: 'roles', email: 'roles@acme.test' }
      const first = await place.arrive(place.ours.start, { ...claims, groups: ['admins'] })
      assert.equal((await first.person.call('GET /me')).status, 200)
      const second = await place.arrive(place.ours.start, { ...claims, groups: [] })
      assert.equal((await first.person.call('GET /me')).json.code, 'session_ended')
      assert.equal((await second.person.call('GET /me')).status, 200)
    })
  })

  describe('the audit log knows', () => {
    test("that somebody arrived under another account's address", async () => {
      const claims = { sub: 'taker', email: 'olga@acme.test' }
      const asked = await place.arrive(place.theirs.start, claims)
      assert.equal(asked.refused, 'sso_domain_mismatch')
      await place.save(place.admin, place.ours)
      const confirm = await place.arrive(place.ours.start, claims)
      assert.equal(confirm.refused, 'sso_confirmation_required')
      const [entry] = (await audit('sso.confirmation_required')).slice(-1)
      assert.equal(entry?.actor, 'olga@acme.test')
      assert.equal(entry?.detail.subject, 'taker')
      assert.equal(entry?.detail.candidates.length, 1)
      await place.save(place.owner, place.ours)
    })

    test('what was refused at discovery when it should have been saved', async () => {
      const wrong = { issuer: `${place.idp.issuerOf('honest')}/nowhere`, client_secret: 's' }
      const made = await place.owner.call('POST /organizations/acme/connections', {
        ...wrong,
        client_id: 'x',
      })
      assert.equal(made.status, 502, made.text)
      assert.match(made.json.detail, /404\. There is no discovery document/)
      assert.equal((await place.owner.call(`PATCH ${one()}`, wrong)).status, 502)
      const entries = (await audit('sso.connection_refused')).slice(-2)
      assert.deepEqual(
        entries.map(({ actor, detail }) => [actor, detail.issuer, detail.check]),
        [
          ['Olga Owner', wrong.issuer, 'status'],
          ['Olga Owner', wrong.issuer, 'status'],
        ],
      )
    })

    test('who signed in, and by what way somebody unknown was refused', async () => {
      await place.arrive(place.ours.start, { sub: 'named', email: 'named@acme.test', name: 'Nan' })
      assert.equal((await audit('sso.signed_in')).at(-1)?.actor, 'Nan')
      await place.arrive(place.ours.start, { sub: 'un', email: 'un@nowhere.test' })
      assert.equal((await audit('sso.refused')).at(-1)?.actor, 'Company sign-in')
    })
  })

  test('the last connection stays while the company sign-in is required', async () => {
    const ownerId = (await place.owner.call('GET /me')).json.id as string
    const { items } = (await place.owner.call('GET /organizations/acme/connections')).json
    for (const { id } of items as { id: string }[]) {
      if (id === place.ours.id) continue
      await place.owner.call(`DELETE /organizations/acme/connections/${id}`)
    }
    const policy = { required: true, break_glass: [ownerId] }
    const set = await place.owner.call('PUT /organizations/acme/sso', policy)
    assert.equal(set.status, 200, set.text)
    for (const route of [`DELETE ${one()}`, `POST ${one()}/disable`]) {
      const refused = await place.owner.call(route)
      assert.deepEqual([refused.status, refused.json.code], [409, 'last_connection'])
    }
    const second = await place.connect(place.owner, 'acme')
    assert.equal((await place.owner.call(`POST ${one()}/disable`)).status, 200)
    const path = `DELETE /organizations/acme/connections/${second.id}`
    assert.equal((await place.owner.call(path)).json.code, 'last_connection')
    await place.owner.call('PUT /organizations/acme/sso', { ...policy, required: false })
    assert.equal((await place.owner.call(path)).status, 204)
    assert.equal((await place.owner.call(`POST ${one()}/enable`)).status, 200)
  })

  test('an unverified address of a person whom the directory knows is said to be that', async () => {
    const token = await place.tokenOf(place.owner, 'acme')
    assert.equal((await place.send(token.secret, 'unproven@acme.test')).status, 201)
    const claims = { sub: 'unproven', email: 'unproven@acme.test', email_verified: false }
    const refused = await place.arrive(place.ours.start, claims)
    assert.equal(refused.refused, 'sso_not_admitted')
    assert.match(refused.text, /does not say that your email is verified/)
    await place.revoke(place.owner, 'acme', token.id)
  })
})
