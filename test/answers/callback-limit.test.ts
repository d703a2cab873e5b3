import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { atGithub, Jar, ownerWithAda, signInProductForTests } from '../harness/sign-in.ts'
import type { SignInProduct } from '../harness/sign-in.ts'

describe('many sign-ins of one address that fail', () => {
  let parts: SignInProduct
  let base: string
  before(async () => {
    parts = await signInProductForTests({ settings: { LIMIT_FAILED_CREDENTIALS: '1/s burst 5' } })
    base = parts.product.baseUrl
    await ownerWithAda(parts)
  })
  after(async () => await parts[Symbol.asyncDispose]())

  const ends: Record<string, () => Promise<Response>> = {
    'a built-in callback': async () => await fetch(`${base}/api/v1/auth/google/callback?code=x`),
    'a company’s callback': async () =>
      await fetch(`${base}/api/v1/auth/sso/con_x/callback?code=x`),
    'a printed link': async () =>
      await fetch(`${base}/sign-in-link`, {
        method: 'POST',
        headers: { origin: base },
        body: new URLSearchParams({ token: 'x'.repeat(43) }),
      }),
  }
  for (const [what, call] of Object.entries(ends)) {
    test(`${what} is told 429 on a page, and a good sign-in from there still gets in`, async () => {
      let last = await call()
      let tries = 1
      while (last.status === 400 && tries++ < 100) {
        await last.text()
        last = await call()
      }
      assert.equal(last.status, 429)
      assert.equal(last.headers.get('intercept-refused'), 'rate_limited')
      assert.match(last.headers.get('retry-after') ?? '', /^\d+$/)
      assert.match(await last.text(), /<h1>Too many calls<\/h1>/)
      const jar = new Jar()
      const landed = await jar.fetch(await atGithub(jar, parts, 'ada'))
      assert.equal(landed.status, 200, await landed.text())
      assert.ok(jar.get('__Host-session'))
    })
  }
})
