import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { countSealed, type SealedCounts } from '../../src/access/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import {
  managed,
  organizations,
  providerSessions,
  sealed,
  type Engine,
} from '../../src/store/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { firstOwner, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { command, connect, walk, type Connected } from '../harness/sso.ts'
import { Jar } from '../harness/sign-in.ts'
import { intercept } from '../harness/terminal.ts'

const oldKey = 'the-old-master-key-of-these-tests-0000'
const newKey = 'the-new-master-key-of-these-tests-1111'

for (const engine of ['sqlite', 'postgres'] satisfies Engine[]) {
  describe(`the master key is replaced on ${engine}`, () => {
    let product: TestProduct
    let idp: HostileIdp
    let owner: Person
    let acme: Connected

    before(async () => {
      idp = await hostileIdp({})
      product = await productForTests({ engine, settings: { INTERCEPT_SECRET: oldKey } })
      owner = await firstOwner(product)
      await command(product, 'org set-plan acme enterprise')
      acme = await connect(product, {
        organization: 'acme',
        issuer: idp.issuerOf('honest'),
        clientId: 'intercept',
        secret: idp.clientSecret,
        domain: 'acme.test',
      })
      const at = '/organizations/acme'
      const made = [
        await owner.call(`POST ${at}/targets`, {
          slug: 'echo',
          upstream: 'http://127.0.0.1:8099',
          credential: { header: 'x-token', value: 'canary' },
        }),
        await owner.call(`POST ${at}/webhooks/endpoints`, {
          url: 'http://127.0.0.1:8098/hook',
          headers: { 'x-token': 'canary' },
          asymmetric: true,
        }),
        await owner.call(`POST ${at}/keys`, { name: 'k' }, { 'idempotency-key': 'once' }),
      ]
      for (const answer of made) assert.equal(answer.status, 201, answer.text)
      await keepIdToken()
      await keepManagedSecrets()
    })
    /** Stores managed secrets, as applying a configuration file does. */
    async function keepManagedSecrets(): Promise<void> {
      await withStore(product, async (store) => {
        const organization = await organizations.findBySlug(store, 'acme')
        const secretsSealed = createSealer([oldKey]).seal('canary', [
          organization!.id,
          'targets/echo',
          'managed',
        ])
        const thing = { section: 'targets', name: 'echo', label: 'acme.yaml', entry: {} }
        const rest = { subjectId: undefined, driftedAt: undefined, secretsSealed }
        await store.transaction(
          async (tx) => await managed.put(tx, organization!.id, [{ ...thing, ...rest }]),
        )
      })
    }
    /** Stores a sealed id_token, as a sign-in does when signing out must also end the provider's session. */
    async function keepIdToken(): Promise<void> {
      const [sessionId, connectionId] = ['ses_kept', 'con_kept'] as const
      const idTokenSealed = createSealer([oldKey]).seal('canary', [
        connectionId,
        sessionId,
        'id_token',
      ])
      await withStore(product, async (store) => {
        const row = { sessionId, connectionId, userId: 'usr_kept', subject: 's' } as const
        const ends = { providerSession: undefined, expiresAt: Date.now() + 3_600_000 }
        await store.transaction(
          async (tx) => await providerSessions.insert(tx, { ...row, ...ends, idTokenSealed }),
        )
      })
    }
    after(async () => {
      await product[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
    })

    const run = async (words: string, key: string) => {
      const said = await intercept([...words.split(' '), '--json'], {
        env: { ...product.env, INTERCEPT_SECRET: key },
      })
      return { ...said, json: said.out === '' ? undefined : JSON.parse(said.out) }
    }
    const counts = async (key: string): Promise<SealedCounts> =>
      await withStore(
        product,
        async (store) => await countSealed(store, createSealer(key.split(','))),
      )

    test('every column that holds something sealed is known, and has a row here', async () => {
      await withStore(product, async (store) => {
        const tables = await store.query.introspection.getTables()
        const named = tables.flatMap((table) =>
          table.columns
            .filter(({ name }) => name.endsWith('sealed'))
            .map(({ name }) => `${table.name}.${name}`),
        )
        const known = sealed.sealedColumns.map(({ table, column }) => `${table}.${column}`)
        assert.deepEqual(named.toSorted(), known.toSorted())
        for (const column of sealed.sealedColumns) {
          assert.ok((await sealed.countByKey(store, column)).length > 0, column.table)
        }
      })
    })

    test('a key that is dropped before everything is sealed again is refused, in words', async () => {
      const doctor = await run('doctor', `${newKey},${oldKey}`)
      const { details } = doctor.json.findings.find(
        (one: { check: string }) => one.check === 'secrets',
      )
      assert.equal(details.under_newest_key, 0)
      assert.ok(details.under_older_keys >= 7)
      const before = await counts(`${newKey},${oldKey}`)
      assert.equal(before.older, details.under_older_keys)
      const dropped = await run('reseal', newKey)
      assert.equal(dropped.code, 1)
      assert.match(dropped.err, /put it back behind the newest/)
      assert.deepEqual(await counts(`${newKey},${oldKey}`), before)
    })

    test('`reseal` seals everything again beside a running node, twice without harm, and says so', async () => {
      const both = `${newKey},${oldKey}`
      const { older: total } = await counts(both)
      const first = await run('reseal', both)
      assert.equal(first.code, 0, first.err)
      const expected = { unreadable: 0, under_newest_key: total, under_older_keys: 0 }
      assert.deepEqual(first.json, { resealed: total, ...expected })
      assert.deepEqual((await run('reseal', both)).json, { resealed: 0, ...expected })
      assert.deepEqual(await counts(newKey), { newest: total, older: 0, unknown: 0 })
    })

    test('afterwards a node knows the new key alone, and everything opens', async () => {
      await product.restart({ INTERCEPT_SECRET: newKey })
      idp.person = { sub: 'ada', email: 'ada@acme.test', email_verified: true, name: 'Ada' }
      const landed = await walk(new Jar(), acme.initiate_login_uri)
      assert.equal(landed.status, 200, await landed.text())
      const again = await owner.call(
        'POST /organizations/acme/keys',
        { name: 'k' },
        { 'idempotency-key': 'once' },
      )
      assert.equal(again.status, 201, again.text)
      assert.equal((await owner.call('GET /me')).status, 200)
    })
  })
}
