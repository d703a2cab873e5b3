// What somebody without a token can make the directory's door do: nothing, and at no cost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { productForTests } from '../harness/product.ts'
import { exchangeRaw } from '../harness/raw.ts'

test("D1: a stranger is refused before any of the body is awaited, in SCIM's words", async () => {
  await using product = await productForTests()
  for (const line of ['', 'Authorization: Bearer svc_scim_wrong\r\n']) {
    const answer = await exchangeRaw(
      product.port,
      `POST /scim/v2/Users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/scim+json\r\n${line}` +
        'Content-Length: 1000000\r\n\r\n{"userName":',
    )
    assert.match(answer, /^HTTP\/1\.1 401 /)
    assert.match(answer, /\r\nwww-authenticate: Bearer /i)
    assert.match(answer, /\r\nintercept-refused: credential_(missing|invalid)\r\n/i)
    assert.match(answer, /"status":"401"/)
    // What is left of the body is nobody's request.
    assert.equal(answer.split('HTTP/1.1 ').length, 2)
  }
})
