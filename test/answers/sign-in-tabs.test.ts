import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sessionOf } from '../harness/person.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import { Jar } from '../harness/sign-in.ts'

describe('a sign-in belongs to its state', () => {
  let place: Neighbours
  before(async () => {
    place = await neighboursForTests()
  })
  after(async () => await place[Symbol.asyncDispose]())

  /** Signs a tab in at the provider and returns its callback URL, which has not been requested yet. */
  async function tab(jar: Jar): Promise<string> {
    const sub = 'tabby'
    place.idp.person = { sub, email: 'tabby@acme.test', email_verified: true, name: 'Tabby' }
    const start = await jar.fetch(place.ours.start)
    const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
    return there.headers.get('location') ?? ''
  }

  test('two tabs of one browser both sign in, in any order', async () => {
    const jar = new Jar()
    const [first, second] = [await tab(jar), await tab(jar)]
    for (const answer of [second, first]) {
      const landed = await jar.fetch(answer)
      assert.equal(landed.status, 200, await landed.text())
      assert.ok(sessionOf(landed.headers))
    }
    // Each callback URL works only once.
    assert.equal((await jar.fetch(first)).headers.get('intercept-refused'), 'callback_invalid')
  })

  test('a stray answer ends nothing but itself', async () => {
    const jar = new Jar()
    const running = await tab(jar)
    const callback = running.split('?')[0] ?? ''
    for (const query of ['?code=x&state=junk', '?error=access_denied&state=junk', '?code=x', '']) {
      const stray = await jar.fetch(callback + query)
      assert.equal(stray.headers.get('intercept-refused'), 'callback_invalid', query)
      assert.deepEqual(stray.headers.getSetCookie(), [])
    }
    assert.equal((await jar.fetch(running)).status, 200)
  })

  test('many tabs never make a request head too large: the newest five go on', async () => {
    const jar = new Jar()
    const tabs: string[] = []
    for (let count = 0; count < 30; count++) tabs.push(await tab(jar))
    for (const answer of tabs.slice(-5)) {
      const landed = await jar.fetch(answer)
      assert.equal(landed.status, 200, await landed.text())
    }
    const oldest = await jar.fetch(tabs[0] ?? '')
    assert.equal(oldest.headers.get('intercept-refused'), 'callback_invalid')
  })

  test('a refusal that is loaded again says the same, and its page leads on', async () => {
    const jar = new Jar()
    const answer = await tab(jar)
    place.idp.person = { sub: 'x', email: 'x@acme.test', email_verified: false, name: 'X' }
    const refused = await jar.fetch(answer)
    const text = await refused.text()
    assert.equal(refused.headers.get('intercept-refused'), 'sso_email_unverified')
    assert.match(text, new RegExp(`href="/api/v1/auth/sso/${place.ours.id}/login">Try again`))
    assert.match(text, /Ask an administrator of Acme/)
    const again = await jar.fetch(answer)
    assert.equal(again.status, refused.status)
    assert.equal(again.headers.get('intercept-refused'), 'sso_email_unverified')
    // Somebody else who only has the URL learns nothing from it.
    const stranger = await new Jar().fetch(answer)
    assert.equal(stranger.headers.get('intercept-refused'), 'callback_invalid')
  })

  describe('a provider that begins a sign-in on another site', () => {
    /**
     * Signs in like a browser that follows a link from another site, and so sends no SameSite=Strict cookies. Returns
     * the response and the cookies that such requests have.
     */
    async function crossSite(jar: Jar, start: string): Promise<{ other: Jar; answer: Response }> {
      const other = new Jar()
      other.set('__Host-signed-in', jar.get('__Host-signed-in') ?? '')
      const begun = await other.fetch(start)
      const there = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })
      return { other, answer: await other.fetch(there.headers.get('location') ?? '') }
    }
    const says = (sub: string, domain = 'acme.test') => {
      place.idp.person = { sub, email: `${sub}@${domain}`, email_verified: true, name: sub }
    }
    async function signedIn(): Promise<Jar> {
      const jar = new Jar()
      says('victim')
      const start = await jar.fetch(place.ours.start)
      const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
      assert.equal((await jar.fetch(there.headers.get('location') ?? '')).status, 200)
      return jar
    }
    async function yes(jar: Jar, form: [string, string][]): Promise<Response> {
      return await jar.fetch(`${place.product.baseUrl}/api/v1/auth/sso/switched`, {
        method: 'POST',
        headers: { origin: place.product.baseUrl },
        body: new URLSearchParams(form),
      })
    }

    test('changes nobody who is signed in unasked, and does so with a yes', async () => {
      const jar = await signedIn()
      const session = jar.get('__Host-session')
      says('attacker', 'evil.test')
      const { other, answer } = await crossSite(jar, place.theirs.start)
      const page = await answer.text()
      assert.equal(sessionOf(answer.headers), undefined)
      assert.match(page, /signed in as <strong>victim<\/strong>/)
      assert.match(page, /Sign in as attacker/)
      // The form is on our own page, so the browser sends its Strict cookie with it.
      other.set('__Host-session', session ?? '')
      const mark: [string, string] = [
        'waiting',
        /name="waiting" value="([^"]+)"/.exec(page)?.[1] ?? '',
      ]
      const another: [string, string] = ['waiting', 'x'.repeat(22)]
      const empty: [string, string] = ['waiting', '']
      for (const form of [[another], [], [empty], [mark, another], [mark, mark]]) {
        const wrong = await yes(other, form)
        assert.equal(wrong.headers.get('intercept-refused'), 'sso_confirmation_required')
        assert.equal(sessionOf(wrong.headers), undefined)
      }
      const switched = await yes(other, [mark])
      assert.equal(switched.status, 200)
      assert.ok(sessionOf(switched.headers))
      const before = await fetch(`${place.product.baseUrl}/api/v1/me`, {
        headers: { cookie: `__Host-session=${session}` },
      })
      assert.equal(before.status, 401)
    })

    test('signs in the same person again, and somebody whose session has ended, without a question', async () => {
      const jar = await signedIn()
      says('victim')
      assert.ok(sessionOf((await crossSite(jar, place.ours.start)).answer.headers))
      await jar.fetch(`${place.product.baseUrl}/api/v1/auth/logout`, {
        method: 'POST',
        headers: { origin: place.product.baseUrl },
      })
      says('attacker', 'evil.test')
      assert.ok(sessionOf((await crossSite(jar, place.theirs.start)).answer.headers))
    })
  })
})
