// Anyone can request the sign-in URLs and post the forms, even with U+0000, which PostgreSQL can't store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { productForTests } from '../harness/product.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`U+0000 in an address or a form of sign-in is bad input on ${engine}, not an error of ours`, async () => {
    await using product = await productForTests({ engine })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const [method, path, body] of [
      ['GET', '/sso/login?organization=%00'],
      ['GET', '/sso/login?email=a%00@acme.test'],
      // A second question mark is part of the query, so the parameters after it count too.
      ['GET', '/sso/login?x=?&organization=%00'],
      ['GET', '/github/login?x=?&return_to=/%00'],
      ['GET', '/sso/%00/login'],
      ['GET', '/sso/a%00b/callback?state=x'],
      ['GET', '/sso/%00/keys'],
      ['GET', '/sso/connection/login?iss=%00'],
      ['POST', '/sso/%00/login', 'iss=x'],
      ['POST', '/sso/connection/login', 'iss=%00'],
      ['POST', '/sso/connection/logout', 'logout_token=%00'],
    ] as const) {
      const answer = await fetch(`${product.baseUrl}/api/v1/auth${path}`, {
        method,
        ...(body === undefined ? {} : { body, headers: form }),
      })
      await answer.arrayBuffer()
      assert.equal(answer.status, 400, `${method} ${path}`)
    }
  })
}

test('a sign-in link posted without its form is a refused link, not an error of ours', async () => {
  await using product = await productForTests()
  for (const [body, type] of [
    ['{"token":"x"}', 'application/json'],
    ['', 'application/x-www-form-urlencoded'],
    [undefined, undefined],
  ] as const) {
    const answer = await fetch(`${product.baseUrl}/sign-in-link`, {
      method: 'POST',
      headers: {
        origin: product.baseUrl,
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body }),
    })
    await answer.arrayBuffer()
    assert.deepEqual(
      [answer.status, answer.headers.get('intercept-refused')],
      [400, 'link_invalid'],
    )
  }
})
