// A person belongs to two organizations; the administrator of one of them has a directory and a provider there.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import { identities, memberships, organizations, users } from '../../src/store/index.ts'
import { patchUrn, scimCall } from '../conformance/scim/directory.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import { memberOf, signedInByLink, withStore, type Person } from '../harness/person.ts'

const email = 'vera@acme.test'

describe('an administrator of a neighbouring organization', () => {
  let place: Neighbours
  let vera: Person
  /** Vera's account, in a session that began with a sign-in at the neighbour's provider. */
  let puppet: Person
  let token: string
  let userId: string

  before(async () => {
    place = await neighboursForTests()
    vera = await memberOf(place.product, 'acme', { email, role: 'developer' })
    userId = (await vera.call('GET /me')).json.id as string
    await withStore(place.product, async (store) => {
      const evil = await organizations.findBySlug(store, 'evil')
      await store.transaction(async (tx) => {
        const who = { userId: userId as never, organizationId: evil!.id }
        const role = { role: 'viewer', source: 'invitation' } as const
        await memberships.insert(tx, { id: createId('mem'), ...who, ...role })
        await identities.insert(tx, {
          ...{ id: createId('idn'), userId: who.userId, provider: 'github', connectionId: '' },
          ...{ issuer: 'https://github.com', subject: 'vera', name: 'Vera' },
          ...{ email, emailVerified: true },
        })
      })
    })
    token = (await place.tokenOf(place.neighbour, 'evil')).secret
    const adopted = await place.send(token, email, { externalId: 'v' })
    assert.equal(adopted.status, 201, JSON.stringify(adopted.body))
    const came = await place.arrive(place.theirs.start, { sub: 'v', email })
    assert.equal(came.status, 200, came.text)
    puppet = came.person
    assert.equal((await puppet.call('GET /me')).json.id, userId, 'the same account')
  })
  after(async () => await place[Symbol.asyncDispose]())

  test('reaches nothing of the other organization with a session that the own provider made', async () => {
    const { organizations: reached } = (await puppet.call('GET /me')).json
    assert.deepEqual(
      reached.map(({ slug }: { slug: string }) => slug),
      ['evil'],
    )
    for (const path of ['', '/keys', '/members', '/targets']) {
      assert.equal((await puppet.call(`GET /organizations/acme${path}`)).status, 404, path)
    }
  })

  test('leaves no trace of sign-ins at one organization in the audit log of the other', async () => {
    const came = await place.arrive(place.theirs.start, { sub: 'v', email })
    const { id } = (await came.person.call('GET /me/sessions')).json.items.find(
      (one: { current: boolean }) => one.current,
    )
    const ended = await came.person.call(`DELETE /me/sessions/${id}`)
    assert.ok(ended.status < 300, ended.text)
    const actions = async (person: Person, slug: string): Promise<string[]> => {
      const { items } = (await person.call(`GET /organizations/${slug}/audit?limit=200`)).json
      return items
        .filter((entry: { action: string }) => entry.action.startsWith('session.'))
        .filter((entry: object) => JSON.stringify(entry).includes(id))
        .map((entry: { action: string }) => entry.action)
    }
    assert.deepEqual(await actions(place.owner, 'acme'), [])
    const there = await actions(place.neighbour, 'evil')
    assert.deepEqual(there.toSorted(), ['session.ended', 'session.started'])
    // A sign-in of her own is shown in the audit logs of both organizations.
    const own = await signedInByLink(place.product, email)
    const started = async (person: Person, slug: string): Promise<number> => {
      const { items } = (await person.call(`GET /organizations/${slug}/audit?limit=200`)).json
      const links = items.filter(
        (entry: { action: string; actor: { id: string | null }; detail: { provider?: string } }) =>
          entry.action === 'session.started' &&
          entry.actor.id === userId &&
          entry.detail.provider === 'sign_in_link',
      )
      return links.length
    }
    assert.equal((await own.call('GET /me')).status, 200)
    assert.equal(await started(place.neighbour, 'evil'), 1)
    assert.equal(await started(place.owner, 'acme'), 2)
  })

  test('sees no identity that others vouch for, and adds, removes or renames nothing of the account', async () => {
    const seen = (await puppet.call('GET /me')).json.identities as { provider: string }[]
    assert.deepEqual(
      seen.map(({ provider }) => provider),
      ['sso'],
    )
    const own = (await vera.call('GET /me')).json.identities as { id: string }[]
    assert.equal(own.length, 2)
    for (const [path, body] of [
      ['PATCH /me', { name: 'Mallory' }],
      [`DELETE /me/identities/${own[0]!.id}`, undefined],
      ['POST /me/identities', { proof: 'x'.repeat(40) }],
    ] as const) {
      assert.equal((await puppet.call(path, body)).json.code, 'own_sign_in_required', path)
    }
    assert.equal((await vera.call('PATCH /me', { name: 'Vera' })).status, 200)
  })

  test('takes up no invitation of another organization in the name of the person', async () => {
    const link = await place.owner.call('POST /organizations/acme/invitations', {
      email: 'vera@acme.test',
      role: 'admin',
    })
    assert.equal(link.status, 201, link.text)
    const { id } = link.json.invitation as { id: string }
    assert.deepEqual((await puppet.call('GET /me')).json.invitations, [])
    assert.equal((await puppet.call(`POST /me/invitations/${id}/accept`)).status, 404)
    const secret = String(link.json.link).split('/').at(-1)
    const taken = await puppet.call('POST /invitations/accept', { token: secret })
    assert.equal(taken.json.code, 'invitation_for_other')
    assert.equal((await vera.call('GET /me')).json.invitations.length, 1)
  })

  test('changes neither name nor address of the account by the directory, and no way of signing in', async () => {
    const list = await scimCall(`${place.product.baseUrl}/scim/v2/Users`, 'GET', { token })
    const { id } = (list.body.Resources as { id: string }[])[0]!
    const changed = await scimCall(`${place.product.baseUrl}/scim/v2/Users/${id}`, 'PATCH', {
      token,
      body: {
        schemas: [patchUrn],
        Operations: [
          { op: 'replace', path: 'userName', value: 'mallory@evil.test' },
          { op: 'replace', path: 'displayName', value: 'Mallory' },
          { op: 'add', path: 'emails', value: [{ value: 'mallory@evil.test', primary: true }] },
        ],
      },
    })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const account = await withStore(
      place.product,
      async (store) => await users.find(store, userId as never),
    )
    assert.deepEqual(
      [account?.name, account?.email, account?.emailFrom],
      ['Vera', email, undefined],
    )
    assert.equal(
      (await (await signedInByLink(place.product, email)).call('GET /me')).json.id,
      userId,
    )
  })

  test('signs nobody of the other organization in by its domain, its issuer or its subjects', async () => {
    await place.neighbour.call('POST /organizations/evil/domains', { name: 'acme.test' })
    const ours = { sub: 'of-acme', email: 'of-acme@acme.test' }
    assert.equal((await place.arrive(place.ours.start, ours)).status, 200)
    // The neighbour makes a new connection, through which the same issuer sends the same subject.
    await place.neighbour.call(`DELETE /organizations/evil/connections/${place.theirs.id}`)
    place.theirs = await place.connect(place.neighbour, 'evil')
    const refused = await place.arrive(place.theirs.start, ours)
    assert.equal(refused.refused, 'sso_not_admitted')
    assert.deepEqual(await place.roleOf(ours.email, 'evil'), [])
    assert.equal((await puppet.call('GET /me')).status, 401, 'sessions end with their connection')
  })

  test('ends the membership there and leaves the one elsewhere as it is', async () => {
    const gone = await place.neighbour.call(
      `DELETE /organizations/evil/members/${await place.idIn(email, 'evil')}`,
    )
    assert.equal(gone.status, 200, gone.text)
    const person = await signedInByLink(place.product, email)
    assert.equal((await person.call('GET /organizations/acme')).status, 200)
    assert.deepEqual(await place.roleOf(email), ['developer'])
  })
})
