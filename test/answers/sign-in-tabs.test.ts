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

  /** A tab that has been at the provider: its answer, not yet taken to the callback. */
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
    // Each once.
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
    // Somebody else who has the address only learns nothing from it.
    const stranger = await new Jar().fetch(answer)
    assert.equal(stranger.headers.get('intercept-refused'), 'callback_invalid')
  })
})
