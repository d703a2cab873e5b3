import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  addMember,
  memberOf,
  personWith,
  sessionOf,
  withStore,
  type Person,
} from '../harness/person.ts'
import {
  atGithub,
  Jar,
  ownerWithAda,
  refused,
  signInProductForTests,
  type SignInProduct,
} from '../harness/sign-in.ts'
import { users } from '../../src/store/index.ts'

describe('who a sign-in lets in', () => {
  let parts: SignInProduct
  let base: string
  let owner: Person
  let invite: (email: string) => Promise<void>
  before(async () => {
    parts = await signInProductForTests()
    base = parts.product.baseUrl
    ;({ owner, invite } = await ownerWithAda(parts))
  })
  after(async () => await parts[Symbol.asyncDispose]())

  test('a verified e-mail address never opens an account that somebody uses (CVE-2023-3128)', async () => {
    const known = await withStore(parts.product, async (store) =>
      users.listByEmail(store, 'ada.github@corp.test'),
    )
    parts.github.people.set('twin', {
      id: 4242,
      login: 'twin',
      emails: [{ email: 'Ada.GitHub@corp.test', primary: true, verified: true }],
    })
    await invite('ada.github@corp.test')
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'twin')
    await refused(parts, async () => await jar.fetch(callback), {
      status: 403,
      code: 'account_exists',
      tokenRequests: 1,
    })
    assert.equal(known.length, 1)
    const audit = await owner.call('GET /organizations/acme/audit?action=sign_in.refused')
    assert.equal(audit.json.items[0].detail.subject, '4242')
  })

  test('an address that the provider has not verified joins nothing and makes nothing (CVE-2026-9092)', async () => {
    await invite('victim@corp.test')
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'mallory')
    await refused(parts, async () => await jar.fetch(callback), {
      status: 403,
      code: 'email_not_verified',
      tokenRequests: 1,
    })
  })

  test('a login name that changes hands is another person; the numeric id is who counts', async () => {
    const before = parts.github.people.get('ada')!
    parts.github.people.set('ada', { ...before, id: 999 })
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'ada')
    await refused(parts, async () => await jar.fetch(callback), {
      status: 403,
      code: 'account_exists',
      tokenRequests: 1,
    })
    parts.github.people.set('ada', before)
  })

  test('an e-mail address that changes at the provider moves nobody to another account', async () => {
    const before = parts.github.people.get('ada')!
    const emails = [{ email: 'olga@acme.test', primary: true, verified: true }]
    parts.github.people.set('ada', { ...before, emails })
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const me = await personWith(base, jar.get('__Host-session')).call('GET /me')
    assert.equal(me.json.email, 'ada.github@corp.test')
    assert.notEqual(me.json.id, (await owner.call('GET /me')).json.id)
    parts.github.people.set('ada', before)
  })

  test('nobody is let in uninvited', async () => {
    parts.github.people.set('stranger', {
      id: 5,
      login: 'stranger',
      emails: [{ email: 'stranger@x.test', primary: true, verified: true }],
    })
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'stranger')
    await refused(parts, async () => await jar.fetch(callback), {
      status: 403,
      code: 'sign_in_refused',
      tokenRequests: 1,
    })
  })

  test('an account that the operator made for an address is claimed by its verified owner, unless somebody has been in it', async () => {
    const person = (id: number, login: string, email: string) =>
      parts.github.people.set(login, {
        id,
        login,
        emails: [{ email, primary: true, verified: true }],
      })
    person(201, 'claims', 'claims@x.test')
    person(202, 'too-late', 'used@x.test')
    await addMember(parts.product, 'acme', { email: 'claims@x.test', role: 'viewer' })
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'claims'))
    const me = await personWith(base, jar.get('__Host-session')).call('GET /me')
    assert.equal(me.json.organizations[0].slug, 'acme')
    await memberOf(parts.product, 'acme', { email: 'used@x.test', role: 'viewer' })
    const late = new Jar()
    const callback = await atGithub(late, parts, 'too-late')
    await refused(parts, async () => await late.fetch(callback), {
      status: 403,
      code: 'account_exists',
      tokenRequests: 1,
    })
  })

  test('somebody who was deactivated has no way back in', async () => {
    parts.github.people.set('leaver', {
      id: 6,
      login: 'leaver',
      emails: [{ email: 'leaver@x.test', primary: true, verified: true }],
    })
    await invite('leaver@x.test')
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'leaver'))
    const leaver = personWith(base, jar.get('__Host-session'))
    assert.equal((await leaver.call('GET /me')).status, 200)
    const members = await owner.call('GET /organizations/acme/members?limit=200')
    const member = members.json.items.find(
      (one: { email: string }) => one.email === 'leaver@x.test',
    )
    const path = `/organizations/acme/members/${member.id}`
    assert.equal((await owner.call(`PATCH ${path}`, { active: false })).status, 200)
    assert.equal((await leaver.call('GET /me')).json.code, 'session_ended')
    await invite('leaver@x.test')
    const again = new Jar()
    const callback = await atGithub(again, parts, 'leaver')
    await refused(parts, async () => await again.fetch(callback), {
      status: 403,
      code: 'sign_in_refused',
      tokenRequests: 1,
    })
  })

  test('GHSA-xg6x-h9c9-2m83: a sign-in that is left half-way grants nothing', async () => {
    const jar = new Jar()
    await atGithub(jar, parts, 'ada')
    const half = personWith(base)
    const headers = { cookie: `${jar.signIn().name}=${jar.signIn().value}` }
    assert.equal((await half.call('GET /me', undefined, headers)).status, 401)
    const asSession = { cookie: `__Host-session=${jar.signIn().value}` }
    assert.equal((await half.call('GET /me', undefined, asSession)).status, 401)
  })

  test('a planted session is worth nothing; each sign-in makes a new token and replaces the browser’s old session', async () => {
    const jar = new Jar()
    jar.set('__Host-session', 'planted')
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const first = jar.get('__Host-session') ?? ''
    assert.notEqual(first, 'planted')
    assert.equal((await personWith(base, 'planted').call('GET /me')).status, 401)
    // This sign-in starts with the session cookie, as it does in a browser after a click on one of our own pages.
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const second = jar.get('__Host-session') ?? ''
    assert.notEqual(second, first)
    assert.equal((await personWith(base, first).call('GET /me')).json.code, 'session_ended')
    assert.equal((await personWith(base, second).call('GET /me')).status, 200)
  })

  test('signing out ends the session everywhere and takes the cookie away; another origin cannot', async () => {
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const token = jar.get('__Host-session') ?? ''
    const node = await parts.product.anotherNode()
    const there = personWith(base, token, `http://127.0.0.1:${node.port}`)
    assert.equal((await there.call('GET /me')).status, 200)
    const foreign = await jar.fetch(`${base}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { origin: 'http://evil.test' },
    })
    assert.equal(foreign.status, 403)
    assert.equal((await there.call('GET /me')).status, 200)
    const out = await jar.fetch(`${base}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { origin: base },
    })
    assert.equal(out.status, 204)
    assert.equal(out.headers.get('clear-site-data'), '"cache", "storage"')
    const [cookie = ''] = out.headers.getSetCookie()
    assert.deepEqual(cookie.split('; ').sort(), [
      'HttpOnly',
      'Max-Age=0',
      'Path=/',
      'SameSite=Strict',
      'Secure',
      '__Host-session=',
    ])
    assert.equal((await personWith(base, token).call('GET /me')).json.code, 'session_ended')
    assert.equal((await there.call('GET /me')).json.code, 'session_ended')
    await node.stop()
  })

  test('CVE-2026-9087: another identity is added by its own person, from the session that asked, once, and only the proven subject', async () => {
    parts.github.people.set('second', {
      id: 88,
      login: 'second',
      emails: [{ email: 'second@x.test', primary: true, verified: true }],
    })
    const linker = await memberOf(parts.product, 'acme', { email: 'linker@x.test', role: 'viewer' })
    const other = await memberOf(parts.product, 'acme', { email: 'other@x.test', role: 'viewer' })
    const proofFor = async (person: Person): Promise<string> => {
      const jar = new Jar()
      jar.set('__Host-session', person.cookie ?? '')
      const answer = await jar.fetch(await atGithub(jar, parts, 'second', '?link=1'))
      assert.equal(sessionOf(answer.headers), undefined, 'linking signs nobody in')
      const refresh = answer.headers.get('refresh') ?? ''
      const path = new URL(refresh.split('url=')[1] ?? '', base).searchParams.get('return_to') ?? ''
      return new URL(path, base).searchParams.get('link') ?? ''
    }
    const proof = await proofFor(linker)
    const look = await linker.call('POST /me/identities/look', { proof })
    assert.equal(look.json.subject, '88')
    assert.equal((await other.call('POST /me/identities', { proof })).json.code, 'link_invalid')
    const changed = `${proof.slice(0, -6)}AAAAAA`
    assert.equal(
      (await linker.call('POST /me/identities', { proof: changed })).json.code,
      'link_invalid',
    )
    assert.equal((await linker.call('POST /me/identities', { proof })).status, 201)
    for (const spelling of [proof, `${proof}=`, `${proof.slice(0, 9)} ${proof.slice(9)}`]) {
      const again = await linker.call('POST /me/identities', { proof: spelling })
      assert.equal(again.json.code, 'link_invalid')
    }
    const taken = await proofFor(other)
    const refusedLink = await other.call('POST /me/identities', { proof: taken })
    assert.equal(refusedLink.json.code, 'identity_taken')
    // From now on this GitHub account signs in the person who linked it.
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'second'))
    const me = await personWith(base, jar.get('__Host-session')).call('GET /me')
    assert.equal(me.json.email, 'linker@x.test')
  })

  test('a refused addition of an identity leads back to adding it, not to signing in with it', async () => {
    const linker = await memberOf(parts.product, 'acme', { email: 'again@x.test', role: 'viewer' })
    const jar = new Jar()
    jar.set('__Host-session', linker.cookie ?? '')
    const callback = new URL(await atGithub(jar, parts, 'ada', '?link=1'))
    callback.searchParams.delete('code')
    callback.searchParams.set('error', 'access_denied')
    const answer = await jar.fetch(callback.href)
    assert.equal(answer.status, 403)
    assert.match(await answer.text(), /auth\/github\/login\?link=1&amp;return_to=\/you"/)
  })

  test('a proof reaches the person’s own page however long the name and the address are', async () => {
    const email = `${'long.'.repeat(11)}name@${'sub.'.repeat(46)}x.test`
    const emails = [{ email, primary: true, verified: true }]
    parts.github.people.set('long', { id: 89, login: 'long', name: '長'.repeat(100), emails })
    const linker = await memberOf(parts.product, 'acme', { email: 'long@x.test', role: 'viewer' })
    const jar = new Jar()
    jar.set('__Host-session', linker.cookie ?? '')
    const answer = await jar.fetch(await atGithub(jar, parts, 'long', '?link=1'))
    const landing = (answer.headers.get('refresh') ?? '').split('url=')[1] ?? ''
    const landed = await jar.fetch(new URL(landing, base).href)
    const { pathname, searchParams } = new URL(landed.headers.get('location') ?? '', base)
    assert.equal(pathname, '/you')
    const look = await linker.call('POST /me/identities/look', { proof: searchParams.get('link') })
    assert.equal(look.json.email, email)
  })

  test('an invitation is used once, by the address it is for, and not when it is too old', async () => {
    parts.github.people.set('guest', {
      id: 101,
      login: 'guest',
      emails: [{ email: 'guest@x.test', primary: true, verified: true }],
    })
    await invite('guest@x.test')
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'guest'))
    const guest = personWith(base, jar.get('__Host-session'))
    const rival = await memberOf(parts.product, 'rival', {
      email: 'boss@rival.test',
      role: 'owner',
    })
    const tokenOf = (link: string) => link.split('/').at(-1)
    const invited = await rival.call('POST /organizations/rival/invitations', {
      email: 'guest@x.test',
      role: 'developer',
    })
    const token = tokenOf(invited.json.link)
    const wrong = await owner.call('POST /invitations/accept', { token })
    assert.equal(wrong.json.code, 'invitation_for_other')
    const seen = await guest.call('GET /me')
    assert.equal(seen.json.invitations[0].organization.slug, 'rival')
    assert.equal((await guest.call('POST /invitations/accept', { token })).status, 200)
    const again = await guest.call('POST /invitations/accept', { token })
    assert.equal(again.json.code, 'invitation_invalid')
    const late = await rival.call('POST /organizations/rival/invitations', {
      email: 'late@x.test',
      role: 'viewer',
    })
    const lateToken = tokenOf(late.json.link)
    parts.product.clock.forward(7 * 24 * 3_600_000 + 1000)
    const look = await personWith(base).call('POST /invitations/look', { token: lateToken })
    assert.equal(look.json.code, 'invitation_invalid')
  })
})
