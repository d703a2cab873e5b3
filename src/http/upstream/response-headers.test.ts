import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUpstreamHead } from './response-head.ts'
import { filterAnswerHeaders } from './response-headers.ts'

/** Returns the header lines that reach the caller if the target lets cookies through. */
function relayed(status: number, ...lines: string[]): string[] {
  const text = [`HTTP/1.1 ${status} Status`, ...lines].join('\r\n')
  const filter = { allowed: new Set(['set-cookie']), forPages: false }
  const flat = filterAnswerHeaders(parseUpstreamHead(text, 'GET'), filter, [])
  return flat.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${flat[at + 1]}`] : []))
}

test('a response that may have no body announces none to the caller (RFC 9110, section 8.6)', () => {
  for (const status of [101, 204]) {
    assert.deepEqual(relayed(status, 'Content-Length: 5', 'X-Kept: 1'), ['X-Kept: 1'])
  }
  for (const status of [200, 205, 304]) {
    assert.deepEqual(relayed(status, 'content-length: 5'), ['content-length: 5'])
  }
})

test("no upstream sets a cookie that a browser would send as one of this origin's own, not even without a name", () => {
  const own = ['__Host-session=x', '=__Host-session=x', ' = __Host-session=x', '__HOST-session=x']
  for (const value of own) assert.deepEqual(relayed(200, `Set-Cookie: ${value}`), [], value)
  for (const value of ['a=__Host-session', 'x__Host-session=1', '=a=__Host-b']) {
    assert.deepEqual(relayed(200, `Set-Cookie: ${value}`), [`Set-Cookie: ${value}`])
  }
})
