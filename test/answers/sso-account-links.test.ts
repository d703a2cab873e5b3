import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { identities, users } from '../../src/store/index.ts'
import { patchUrn, scimCall } from '../conformance/scim/directory.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import { memberOf, signedInByLink, withStore } from '../harness/person.ts'

describe('how a person is linked and un-linked over time', () => {
  let place: Neighbours
  before(async () => {
    place = await neighboursForTests()
  })
  after(async () => await place[Symbol.asyncDispose]())

  describe('connections come and go', () => {
    test('people who know only a deleted connection come in by the one that replaces it', async () => {
      const claims = { sub: 'sso-only', email: 'sso-only@acme.test' }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      const gone = await place.owner.call(`DELETE /organizations/acme/connections/${place.ours.id}`)
      assert.equal(gone.status, 204, gone.text)
      place.ours = await place.connect(place.owner, 'acme')
      const back = await place.arrive(place.ours.start, claims)
      assert.equal(back.status, 200, back.text)
      assert.deepEqual(await place.roleOf('sso-only@acme.test'), ['viewer'])
    })

    test('and by a connection whose issuer has changed; another subject of the same issuer still confirms', async () => {
      const claims = { sub: 'mover', email: 'mover@acme.test' }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      const recycled = await place.arrive(place.ours.start, { ...claims, sub: 'mover-2' })
      assert.equal(recycled.refused, 'sso_confirmation_required')
      const moved = await place.owner.call(
        `PATCH /organizations/acme/connections/${place.ours.id}`,
        {
          issuer: place.successor.issuerOf('honest'),
          client_secret: 's',
        },
      )
      assert.equal(moved.status, 200, moved.text)
      const back = await place.arrive(place.ours.start, { ...claims, sub: 'mover-at-the-new-one' })
      assert.equal(back.status, 200, back.text)
      assert.deepEqual(await place.roleOf('mover@acme.test'), ['viewer'])
    })

    test('another client id locks nobody out whose subject depends on it, and opens nothing where it does not', async () => {
      for (const [lie, refusal] of [
        ['pairwise', null],
        ['honest', 'sso_confirmation_required'],
      ] as const) {
        const issuer = place.idp.issuerOf(lie)
        const connection = await place.connect(place.owner, 'acme', { issuer })
        const claims = { sub: `${lie}-before`, email: `${lie}-client@acme.test` }
        const arrive = async (sub: string) =>
          (await place.arrive(connection.start, { ...claims, sub })).refused
        const change = async (person: typeof place.owner, clientId: string) => {
          const path = `PATCH /organizations/acme/connections/${connection.id}`
          const changed = await person.call(path, { client_id: clientId, client_secret: 's' })
          assert.equal(changed.status, 200, changed.text)
        }
        assert.equal(await arrive(`${lie}-before`), null)
        assert.equal(await arrive(`${lie}-other`), 'sso_confirmation_required')
        await change(place.owner, 'another')
        assert.equal(await arrive(`${lie}-after`), refusal)
        if (refusal !== null) continue
        // The account now has a subject of the new client, so another subject needs confirmation.
        assert.equal(await arrive(`${lie}-third`), 'sso_confirmation_required')
        // With the old client id, the first subject is valid again, and other subjects still need confirmation.
        await change(place.admin, 'intercept')
        assert.equal(await arrive(`${lie}-before`), null)
        assert.equal(await arrive(`${lie}-fourth`), 'sso_confirmation_required')
        assert.deepEqual(await place.roleOf(claims.email), ['viewer'])
      }
    })

    test("an owner's account does not follow another client id that an administrator enters", async () => {
      const issuer = place.idp.issuerOf('pairwise')
      const connection = await place.connect(place.owner, 'acme', { issuer })
      const email = 'owner-of-pairs@acme.test'
      await memberOf(place.product, 'acme', { email, role: 'owner' })
      const arrive = async (sub: string) => await place.arrive(connection.start, { sub, email })
      assert.equal((await arrive('pairs-1')).status, 200)
      const path = `PATCH /organizations/acme/connections/${connection.id}`
      await place.admin.call(path, { client_id: 'mine', client_secret: 's' })
      assert.equal((await arrive('pairs-2')).refused, 'sso_confirmation_required')
    })

    test("a connection re-made by an administrator does not reach an owner's account unasked", async () => {
      await memberOf(place.product, 'acme', { email: 'second@acme.test', role: 'owner' })
      const claims = { sub: 'second', email: 'second@acme.test' }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await place.admin.call(`DELETE /organizations/acme/connections/${place.ours.id}`)
      place.ours = await place.connect(place.admin, 'acme')
      assert.equal(
        (await place.arrive(place.ours.start, claims)).refused,
        'sso_confirmation_required',
      )
      await place.save(place.owner, place.ours)
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
    })

    test('an account that other sign-ins open is not linked by a connection that replaces another', async () => {
      const email = 'both@acme.test'
      const claims = { sub: 'both', email }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await withStore(place.product, async (store) => {
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
      await place.owner.call(`DELETE /organizations/acme/connections/${place.ours.id}`)
      place.ours = await place.connect(place.owner, 'acme')
      assert.equal(
        (await place.arrive(place.ours.start, claims)).refused,
        'sso_confirmation_required',
      )
    })

    test('a way in that still works is not removed because a dead one is left', async () => {
      const email = 'tidy@acme.test'
      assert.equal((await place.arrive(place.ours.start, { sub: 'tidy', email })).status, 200)
      await place.owner.call(`DELETE /organizations/acme/connections/${place.ours.id}`)
      place.ours = await place.connect(place.owner, 'acme')
      assert.equal((await place.arrive(place.ours.start, { sub: 'tidy', email })).status, 200)
      const person = await signedInByLink(place.product, email)
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
      const gone = await place.owner.call(
        `DELETE /organizations/acme/members/${await place.idIn(email)}`,
      )
      assert.equal(gone.status, 200, gone.text)
    }

    test('they come back by an invitation, in the role that it gives', async () => {
      const claims = { sub: 'back', email: 'back@acme.test' }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await removed('back@acme.test')
      await place.invite('back@acme.test', 'developer')
      const back = await place.arrive(place.ours.start, claims)
      assert.equal(back.status, 200, back.text)
      assert.deepEqual(await place.roleOf('back@acme.test'), ['developer'])
    })

    test('they come back by the directory that sends them again', async () => {
      const token = await place.tokenOf(place.owner, 'acme')
      const claims = { sub: 'sent', email: 'sent@acme.test' }
      const sent = await place.send(token.secret, 'sent@acme.test', { externalId: 'hr-sent' })
      assert.equal(sent.status, 201)
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await removed('sent@acme.test')
      assert.equal((await place.arrive(place.ours.start, claims)).refused, 'sso_membership_ended')
      const path = `${place.product.baseUrl}/scim/v2/Users/${String(sent.body.id)}`
      await scimCall(path, 'DELETE', { token: token.secret })
      const again = await place.send(token.secret, 'sent@acme.test', { externalId: 'hr-sent' })
      assert.equal(again.status, 201, JSON.stringify(again.body))
      const back = await place.arrive(place.ours.start, claims)
      assert.equal(back.status, 200, back.text)
      // A deactivated person stays out.
      await scimCall(`${place.product.baseUrl}/scim/v2/Users/${String(again.body.id)}`, 'PATCH', {
        token: token.secret,
        body: { schemas: [patchUrn], Operations: [{ op: 'replace', value: { active: false } }] },
      })
      assert.equal((await place.arrive(place.ours.start, claims)).refused, 'sso_membership_ended')
      await place.revoke(place.owner, 'acme', token.id)
    })

    test('they come back by their domain where that lets new people in, and not where it does not', async () => {
      const claims = { sub: 'gone', email: 'gone@acme.test' }
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
      await removed('gone@acme.test')
      const path = `PATCH /organizations/acme/connections/${place.ours.id}`
      await place.owner.call(path, { admits_new_people: false })
      assert.equal((await place.arrive(place.ours.start, claims)).refused, 'sso_not_admitted')
      await place.owner.call(path, { admits_new_people: true })
      assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
    })
  })

  test('people who came in by their domain stay out while SCIM is on, until the directory sends them', async () => {
    const claims = { sub: 'jit', email: 'jit@acme.test' }
    assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
    const token = await place.tokenOf(place.owner, 'acme')
    assert.equal((await place.arrive(place.ours.start, claims)).refused, 'sso_not_admitted')
    assert.equal((await place.send(token.secret, 'jit@acme.test')).status, 201)
    assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
    await place.revoke(place.owner, 'acme', token.id)
  })
})
