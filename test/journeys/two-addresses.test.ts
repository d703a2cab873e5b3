import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { browserForTests } from '../harness/browser.ts'
import { firstOwner, sessionOf } from '../harness/person.ts'
import { atGithub, Jar, signInProductForTests } from '../harness/sign-in.ts'

test('with an identity address of its own, the callback hands over to the base address, to the browser that started, once', async () => {
  const port = await portForTests()
  const base = `http://localhost:${port}`
  const auth = `http://127.0.0.1:${port}`
  await using parts = await signInProductForTests({
    settings: { PORT: String(port), BASE_URL: base, AUTH_URL: auth },
  })
  const owner = await firstOwner(parts.product)
  for (const email of ['ada.github@corp.test', 'ada@corp.test']) {
    await owner.call('POST /organizations/acme/invitations', { email, role: 'viewer' })
  }

  // For the browser the two addresses are different hosts, so the cookies of one are not sent to the other.
  await using browser = await browserForTests()
  await using visitor = await browser.visit({
    origin: base,
    alsoAllow: [auth, parts.idp.issuer],
    expected: [/Failed to load resource/],
  })
  const { page } = visitor
  const visited: string[] = []
  page.on('request', (request) => {
    if (request.isNavigationRequest()) visited.push(new URL(request.url()).origin)
  })
  await page.goto(`${base}/api/v1/auth/google/login?return_to=/docs`)
  await page.getByLabel('Login').fill('ada@corp.test')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${base}/docs`)
  assert.ok(visited.includes(auth), 'the provider answered to the identity address')
  const asked = await visitor.context.request.get(`${base}/api/v1/me`)
  assert.equal(asked.status(), 200)
  // The test provider is on 127.0.0.1 too, and sets cookies of its own there.
  const cookies = (await visitor.context.cookies()).filter(({ name }) => name.startsWith('__Host-'))
  assert.ok(cookies.every(({ domain }) => domain === 'localhost'))
  const session = cookies.find(({ name }) => name === '__Host-session')?.value ?? ''
  const claims = JSON.parse(Buffer.from(session.split('.')[1] ?? '', 'base64url').toString()) as {
    iss: string
    aud: string
  }
  assert.deepEqual([claims.iss, claims.aud], [auth, base])
  assert.deepEqual(visitor.findings, [])

  // The same without a real browser: the code works once, for 30 seconds, and only with the cookies of the sign-in.
  const start = async (jar: Jar): Promise<string> => {
    const callback = await atGithub(jar, parts, 'ada')
    assert.equal(new URL(callback).origin, auth)
    // A browser would not send the base address's cookie here.
    const handed = await fetch(callback, { redirect: 'manual' })
    assert.equal(handed.status, 302)
    assert.equal(sessionOf(handed.headers), undefined)
    const location = handed.headers.get('location') ?? ''
    assert.equal(new URL(location).origin, base)
    return location
  }
  const jar = new Jar()
  const location = await start(jar)
  const stranger = await new Jar().fetch(location)
  assert.equal(stranger.headers.get('intercept-refused'), 'callback_invalid')
  const kept = jar.signIn()
  const landed = await jar.fetch(location)
  assert.equal(landed.status, 200)
  assert.ok(sessionOf(landed.headers))
  const again = new Jar()
  again.set(kept.name, kept.value)
  const replayed = await again.fetch(location)
  assert.equal(replayed.headers.get('intercept-refused'), 'callback_invalid')

  const late = new Jar()
  const old = await start(late)
  parts.product.clock.forward(31_000)
  const refused = await late.fetch(old)
  assert.equal(refused.headers.get('intercept-refused'), 'callback_invalid')
  assert.equal(sessionOf(refused.headers), undefined)
})
