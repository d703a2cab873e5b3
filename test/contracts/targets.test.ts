import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Problem } from '../../src/errors.ts'
import { createAddressGuard } from '../../src/http/index.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import type { Actor, Store } from '../../src/store/index.ts'
import {
  createTargetCache,
  createTargets,
  defaultSettings,
  type Targets,
} from '../../src/targets/index.ts'
import { until } from '../harness/gateway.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

const operator: Actor = { kind: 'operator' }
const canary = 'canary-of-the-upstream'

for (const engine of engines) {
  describe(`targets on ${engine}`, () => {
    const clock = steadyClock()
    const sealer = createSealer(['a master secret of the tests, 32 characters'])
    const defaults = defaultSettings(1000)
    let opened: TestStore
    let targets: Targets
    let acme: OrganizationId
    let other: OrganizationId
    before(async () => {
      opened = await storeForTests(engine, clock)
      targets = targetsOver(opened.store)
      const organizations = new Organizations({ store: opened.store })
      acme = (await organizations.create({ slug: 'acme' }, operator)).id
      other = (await organizations.create({ slug: 'other' }, operator)).id
    })
    after(async () => await opened[Symbol.asyncDispose]())

    function targetsOver(store: Store): Targets {
      const guard = createAddressGuard({ allowCidrs: [], allowLoopback: true })
      return createTargets({ store, sealer, clock, guard, defaults })
    }

    async function make(slug: string, more: Partial<Parameters<Targets['create']>[1]> = {}) {
      const input = { slug, upstream: 'http://127.0.0.1:9000/base/', ...more }
      return await targets.create(acme, input, operator)
    }

    test('a target is found by its id and by its name, and a name is taken once in an organization', async () => {
      const made = await make('one')
      assert.deepEqual(await targets.get(acme, made.id), made)
      assert.deepEqual(await targets.get(acme, 'one'), made)
      await refused(make('one'), 'conflict')
      const elsewhere = { slug: 'one', upstream: 'http://127.0.0.1:9000' }
      await targets.create(other, elsewhere, operator)
    })

    test('another organization’s target does not exist', async () => {
      const made = await make('ours')
      for (const attempt of [
        async () => await targets.get(other, made.id),
        async () =>
          await targets.edit(
            { organizationId: other, idOrSlug: made.id },
            { name: 'theirs' },
            operator,
          ),
        async () => await targets.remove(other, 'ours', operator),
      ]) {
        await refused(attempt(), 'not_found')
      }
      assert.equal((await targets.get(acme, 'ours')).name, 'ours')
    })

    test('a change is answered when every node goes by it, and says how many did', async () => {
      const made = await make('confirmed')
      const elsewhere = await opened.another()
      const cache = createTargetCache({ store: elsewhere, sealer, defaults })
      assert.equal((await cache.of(acme)).get('confirmed')?.disabled, false)
      const { confirmation } = await targets.edit(
        { organizationId: acme, idOrSlug: made.id },
        { disabled: true },
        operator,
      )
      assert.deepEqual([confirmation.nodes, confirmation.silentNodes], [2, 0])
      assert.ok(elsewhere.feed.isCurrent())
      assert.equal((await cache.of(acme)).get('confirmed')?.disabled, true)
      await targets.remove(acme, made.id, operator)
      assert.equal((await cache.of(acme)).get('confirmed'), undefined)
    })

    test('a credential is stored sealed, bound to its row, and told to nobody', async () => {
      const credential = { header: 'X-Upstream-Key', value: canary }
      const made = await make('sealed', { credential })
      const rows = await opened.store.query
        .selectFrom('target')
        .selectAll()
        .where('organization_id', '=', acme)
        .execute()
      const audited = await opened.store.query.selectFrom('audit_entry').selectAll().execute()
      const told = [made, await targets.get(acme, 'sealed'), await targets.list(acme)]
      assert.ok(!JSON.stringify([rows, audited, told]).includes(canary))
      const sealed = rows.find(({ id }) => id === made.id)?.credential_sealed ?? ''
      assert.equal(sealer.open(sealed, [acme, made.id, 'credential']), canary)
      assert.throws(() => sealer.open(sealed, [other, made.id, 'credential']))
    })

    test('another upstream origin drops the credential, another path keeps it', async () => {
      const credential = { header: 'X-Upstream-Key', value: canary }
      await make('moving', { credential })
      const edit = async (upstream: string) =>
        await targets.edit({ organizationId: acme, idOrSlug: 'moving' }, { upstream }, operator)
      assert.equal((await edit('http://127.0.0.1:9000/elsewhere')).credentialDropped, false)
      assert.equal((await targets.get(acme, 'moving')).credentialHeader, 'X-Upstream-Key')
      assert.equal((await edit('http://127.0.0.1:9001/elsewhere')).credentialDropped, true)
      assert.equal((await targets.get(acme, 'moving')).credentialHeader, undefined)
    })

    test('a path of a rule that an older version stored decoded is shown encoded, also in the audit log', async () => {
      const rules = [{ effect: 'deny' as const, methods: [], path: '/caf%C3%A9', trial: false }]
      const { id } = await make('decoded', { rules })
      const decoded = '/caf\u00c3\u00a9?'
      await opened.store.transaction(async (tx) => {
        await tx.query
          .updateTable('rule')
          .set({ path: decoded })
          .where('target_id', '=', id)
          .execute()
      })
      const shown = await targets.get(acme, 'decoded')
      assert.equal(shown.rules[0]?.path, '/caf%C3%A9%3F')
      const place = { organizationId: acme, idOrSlug: 'decoded' }
      const edited = await targets.edit(place, { name: 'Renamed' }, operator)
      assert.deepEqual(edited.target.rules, shown.rules)
      const again = await targets.edit(place, { rules: shown.rules }, operator)
      assert.deepEqual(again.target.rules, shown.rules)
      const entries = await opened.store.query.selectFrom('audit_entry').selectAll().execute()
      assert.ok(!JSON.stringify(entries).includes(decoded))
    })

    test('an edit of an old version is refused; rules keep their order, and their ids where they stay', async () => {
      const rules = ['/a', '/b', '/c'].map((path) => ({
        ...{ effect: 'allow' as const, methods: ['GET'], path, trial: false },
      }))
      const first = await make('ruled', { rules })
      const reversed = first.rules.toReversed()
      const { target: second } = await targets.edit(
        { organizationId: acme, idOrSlug: 'ruled', expectedVersion: first.version },
        { rules: reversed },
        operator,
      )
      assert.deepEqual(second.rules, reversed)
      assert.deepEqual((await targets.get(acme, 'ruled')).rules, reversed)
      await refused(
        targets.edit(
          { organizationId: acme, idOrSlug: 'ruled', expectedVersion: first.version },
          { name: 'late' },
          operator,
        ),
        'version_conflict',
      )
    })

    test('a node hears of targets that another process makes, edits and removes', async () => {
      const elsewhere = targetsOver(await opened.another())
      const cache = createTargetCache({ store: opened.store, sealer, defaults })
      const slugs = async () => [...(await cache.of(acme)).values()].map(({ slug }) => slug)
      await slugs()
      const input = { slug: 'far', upstream: 'http://127.0.0.1:9000' }
      await elsewhere.create(acme, input, operator)
      await until(async () => (await slugs()).includes('far'))
      await elsewhere.edit({ organizationId: acme, idOrSlug: 'far' }, { disabled: true }, operator)
      await until(async () => (await cache.of(acme)).get('far')?.disabled === true)
      await elsewhere.remove(acme, 'far', operator)
      await until(async () => !(await slugs()).includes('far'))
    })

    test('values that make no sense are refused in a sentence', async () => {
      for (const input of [
        { slug: 'Up' },
        { slug: '-' },
        { slug: 'x'.repeat(64) },
        { upstream: 'http://127.0.0.1/?a' },
        { upstream: 'http://127.0.0.1/a%2Fb' },
        { name: ' ' },
        { credential: { header: 'Host', value: 'x' } },
        { credential: { header: 'Intercept-Key-Id', value: 'x' } },
        { credential: { header: 'intercept_organization', value: 'x' } },
        { credential: { header: 'Transfer_Encoding', value: 'x' } },
        { credential: { header: 'X-Key', value: 'a\r\nb' } },
        { settings: { bodyBytes: -1 } },
        { settings: { capture: { headers: ['authorization'], bodyBytes: 0, redact: [] } } },
        { settings: { answerHeaders: ['content-length'] } },
      ]) {
        const attempt = make('fine', input)
        await refused(attempt, 'invalid_input')
      }
      for (const upstream of ['http://10.0.0.1', 'ftp://127.0.0.1', 'http://a:b@127.0.0.1']) {
        await refused(make('fine', { upstream }), 'outbound_blocked')
      }
      await refused(targets.get(acme, 'fine'), 'not_found')
    })
  })
}

async function refused(attempt: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(attempt, (error) => error instanceof Problem && error.code === code, code)
}
