import assert from 'node:assert/strict'
import { test } from 'node:test'
import { productForTests } from '../harness/product.ts'
import { exchangeRaw } from '../harness/raw.ts'

test("a stranger is refused before any of the body is awaited, in SCIM's words", async () => {
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
    // The rest of the body is not read as another request.
    assert.equal(answer.split('HTTP/1.1 ').length, 2)
  }
})

test("what is refused before any door says so in SCIM's words at SCIM's address", async () => {
  await using product = await productForTests()
  const long = 'a'.repeat(9000)
  for (const [line, status, code] of [
    [`GET /scim/v2/Users?filter=${long} HTTP/1.1\r\nHost: localhost`, 414, 'uri_too_long'],
    ['GET /scim/v2/Users HTTP/1.1\r\nHost: a\r\nHost: b', 400, 'host_invalid'],
    ['TRACE /scim/v2 HTTP/1.1\r\nHost: localhost', 405, 'method_not_allowed'],
  ] as const) {
    const answer = await exchangeRaw(product.port, `${line}\r\n\r\n`)
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(answer, /\r\nContent-Type: application\/scim\+json\r\n/)
    assert.match(answer, new RegExp(`\r\nIntercept-Refused: ${code}\r\n`))
    assert.match(answer, /\r\nIntercept-Request-Id: req_/)
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
    assert.deepEqual(Object.keys(body), ['schemas', 'detail', 'status'])
  }
})
