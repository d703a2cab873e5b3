import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Problem } from '../../src/errors.ts'
import type { TxtAnswer } from '../../src/http/index.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Domains } from '../../src/sso/domains.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { auditEntries, type Store } from '../../src/store/index.ts'
import { eventsThatFit } from '../harness/events.ts'
import { emptyPlace, engines, type Place } from './engines.ts'

const operator = { kind: 'operator' } as const
const person = { kind: 'user', id: 'usr_1', name: 'Ada' } as const
const weekMs = 7 * 24 * 3_600_000

for (const engine of engines) {
  describe(`domains on ${engine}`, () => {
    let place: Place
    let store: Store
    let domains: Domains
    let acme: OrganizationId
    let evil: OrganizationId
    let now = Date.now()
    const clock = { now: () => now, monotonic: () => performance.now() }
    // The DNS records that this test sees.
    const zone = new Map<string, TxtAnswer>()
    const put = (name: string, ...texts: string[]) => zone.set(name, { kind: 'records', texts })

    before(async () => {
      place = await emptyPlace(engine)
      store = await place.open({ clock })
      const organizations = new Organizations({ store })
      acme = (await organizations.create({ slug: 'acme', plan: 'enterprise' }, operator)).id
      evil = (await organizations.create({ slug: 'evil', plan: 'enterprise' }, operator)).id
      domains = new Domains({
        store,
        resolveTxt: async (name) => zone.get(name) ?? { kind: 'none' },
      })
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    })

    const add = async (organizationId: OrganizationId, name: string) =>
      await domains.add(organizationId, { name }, person)
    const events = async (organizationId: string) =>
      (
        await store.query
          .selectFrom('event')
          .select('type')
          .where('organization_id', '=', organizationId)
          .orderBy('sequence')
          .execute()
      ).map(({ type }) => type)

    test('a domain is verified by its TXT record and routes addresses of exactly that domain', async () => {
      const domain = await add(acme, 'Acme.Test.')
      assert.equal(domain.name, 'acme.test')
      assert.equal((await domains.ofAddress('ada@acme.test'))?.id, undefined)
      put('_intercept-challenge.acme.test', 'v=spf1', domain.challenge)
      const checked = await domains.check(acme, 'acme.test', person)
      assert.equal(checked.verifiedBy, 'dns')
      assert.equal((await domains.ofAddress('Ada@ACME.test'))?.organizationId, acme)
      assert.ok((await events(acme)).includes('domain.verified'))
    })

    for (const address of [
      'ada@sub.acme.test',
      'ada@xacme.test',
      'ada@acme.test.evil.test',
      'ada@acme.test@evil.test',
      'ada@аcme.test',
      'ada@acme.test\u0000',
      '"ada@acme.test"@evil.test',
      'acme.test',
      '@acme.test',
      undefined,
      ['ada@acme.test'],
    ]) {
      test(`${JSON.stringify(address)} is no address of acme.test`, async () => {
        assert.equal(await domains.ofAddress(address), undefined)
      })
    }

    test('a second organization cannot verify a domain that is held, even with a TXT record of its own', async () => {
      const theirs = await add(evil, 'acme.test')
      const held = zone.get('_intercept-challenge.acme.test')
      assert.ok(held?.kind === 'records')
      put('_intercept-challenge.acme.test', ...held.texts, theirs.challenge)
      await assert.rejects(domains.check(evil, 'acme.test', person), { code: 'domain_taken' })
      await assert.rejects(domains.override(evil, 'acme.test', operator), { code: 'domain_taken' })
      assert.equal((await domains.ofAddress('ada@acme.test'))?.organizationId, acme)
    })

    test("another organization's TXT value does not verify the domain here", async () => {
      const mine = await add(acme, 'shared.test')
      const theirs = await add(evil, 'shared.test')
      assert.notEqual(mine.challenge, theirs.challenge)
      put('_intercept-challenge.shared.test', mine.challenge)
      const checked = await domains.check(evil, 'shared.test', person)
      assert.equal(checked.verifiedAt, undefined)
      assert.equal(checked.seen?.['kind'], 'other_value')
    })

    test('a record at a subdomain or at the parent verifies nothing', async () => {
      const domain = await add(evil, 'corp.test')
      put('_intercept-challenge.sub.corp.test', domain.challenge)
      assert.equal((await domains.check(evil, 'corp.test', person)).seen?.['kind'], 'nothing')
      put('corp.test', domain.challenge)
      const checked = await domains.check(evil, 'corp.test', person)
      assert.equal(checked.seen?.['kind'], 'at_the_domain')
      assert.equal(checked.verifiedAt, undefined)
    })

    test('the answer says that the DNS panel added the zone', async () => {
      const domain = await add(acme, 'panel.test')
      put('_intercept-challenge.panel.test.panel.test', domain.challenge)
      const { seen } = await domains.check(acme, 'panel.test', person)
      assert.equal(seen?.['kind'], 'zone_appended')
      assert.match(
        String(seen['sentence']),
        /_intercept-challenge\.panel\.test\.panel\.test: your DNS panel added/,
      )
    })

    test('a DNS that does not answer verifies nothing and loses nothing', async () => {
      const domain = await add(acme, 'slow.test')
      zone.set('_intercept-challenge.slow.test', { kind: 'failed', code: 'ETIMEOUT' })
      assert.equal((await domains.check(acme, 'slow.test', person)).seen?.['kind'], 'dns_failed')
      put('_intercept-challenge.slow.test', domain.challenge)
      await domains.check(acme, 'slow.test', person)
      zone.set('_intercept-challenge.slow.test', { kind: 'failed', code: 'ESERVFAIL' })
      assert.notEqual((await domains.check(acme, 'slow.test', person)).verifiedAt, undefined)
      assert.equal((await domains.ofAddress('x@slow.test'))?.organizationId, acme)
    })

    test('checked every week by itself: a lost TXT record ends the routing and says so', async () => {
      zone.delete('_intercept-challenge.acme.test')
      now += weekMs + 60_000
      while ((await domains.checkDue()) > 0);
      assert.equal(await domains.ofAddress('ada@acme.test'), undefined)
      assert.ok((await events(acme)).includes('domain.lost'))
      const lost = await domains.get(acme, 'acme.test')
      assert.notEqual(lost.lostAt, undefined)
      // The lost domain is free for any organization that can verify it.
      put('_intercept-challenge.acme.test', (await domains.get(evil, 'acme.test')).challenge)
      assert.equal((await domains.check(evil, 'acme.test', person)).verifiedBy, 'dns')
      assert.equal((await domains.ofAddress('ada@acme.test'))?.organizationId, evil)
    })

    test('what the operator vouched for is not asked of the DNS again', async () => {
      await add(acme, 'closed.test')
      assert.equal((await domains.override(acme, 'closed.test', operator)).verifiedBy, 'operator')
      now += 2 * weekMs
      while ((await domains.checkDue()) > 0);
      assert.equal((await domains.check(acme, 'closed.test', person)).verifiedBy, 'operator')
      await domains.remove(acme, 'closed.test', person)
      assert.equal(await domains.ofAddress('x@closed.test'), undefined)
    })

    test('two organizations that prove the same name at the same time: one gets it', async () => {
      const both = [await add(acme, 'race.test'), await add(evil, 'race.test')]
      put('_intercept-challenge.race.test', ...both.map(({ challenge }) => challenge))
      const outcomes = await Promise.allSettled([
        domains.check(acme, 'race.test', person),
        domains.check(evil, 'race.test', person),
      ])
      assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    })

    test('every step is in the audit', async () => {
      const entries = await auditEntries.listFrom(store, {
        organizationId: acme,
        fromSequence: 0,
        limit: 200,
      })
      const actions = new Set(entries.map(({ action }) => action))
      for (const action of ['domain.added', 'domain.verified', 'domain.lost', 'domain.removed']) {
        assert.ok(actions.has(action), action)
      }
    })

    test('the plan that lacks single sign-on has no domains: none added, checked, vouched for, routed', async () => {
      const organizations = new Organizations({ store })
      const { id } = await organizations.create({ slug: 'small', plan: 'enterprise' }, operator)
      await add(id, 'small.test')
      await organizations.setPlan('small', 'standard', operator)
      const refusal = { code: 'plan_required' }
      await assert.rejects(add(id, 'other.test'), refusal)
      await assert.rejects(domains.check(id, 'small.test', person), refusal)
      await assert.rejects(domains.override(id, 'small.test', operator), refusal)
      await assert.rejects(
        domains.route(id, 'small.test', { connectionId: undefined, actor: person }),
        refusal,
      )
      await domains.remove(id, 'small.test', person)
    })

    for (const name of [
      'gmail.com',
      'GMAIL.com',
      'gmail.com.',
      'outlook.com',
      'qq.com',
      'yahoo.com.au',
      'hotmail.nl',
    ]) {
      test(`the public mail domain ${name} belongs to nobody`, async () => {
        await assert.rejects(add(acme, name), { code: 'domain_public' })
      })
    }

    for (const name of [
      '',
      'localhost',
      '*.acme.test',
      'http://acme.test',
      'ada@acme.test',
      'acme.test/x',
      'acme..test',
      '-a.test',
      '127.0.0.1',
      '0x7f.1',
      'a b.test',
      'acme。test',
      `${'a'.repeat(64)}.test`,
      `${'a.'.repeat(130)}test`,
    ]) {
      test(`${JSON.stringify(name.slice(0, 30))} is no domain`, async () => {
        const error = await add(acme, name).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        assert.ok(error instanceof Problem)
        assert.equal(error.code, 'domain_invalid')
      })
    }

    test('a look-alike in another script is another domain, shown in ASCII', async () => {
      const domain = await add(acme, 'аcme.test')
      assert.match(domain.name, /^xn--/)
    })

    test('every event that was published here is what the catalogue says of its type', async () => {
      assert.ok((await eventsThatFit(store, acme)).length > 0)
    })
  })
}
