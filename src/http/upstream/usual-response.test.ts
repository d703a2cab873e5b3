import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomFrom } from '../../../test/harness/random.ts'
import {
  createResponseEndings,
  renderOwnLines,
  renderResponseHead,
} from '../server/plain-lane/response-head.ts'
import { parseUpstreamHead } from './response-head.ts'
import { filterAnswerHeaders } from './response-headers.ts'
import { UsualResponses, type UsualResponse } from './usual-response.ts'

const { kept: ending } = createResponseEndings(5, () => 'Sun, 22 Nov 2026 00:00:00 GMT')
const own = ['Intercept-Request-Id', 'req_1']
const reader = new UsualResponses()

/** Returns what the full parser relays; undefined for a response that is never read as a usual one. */
function relayedInFull(
  text: string,
): { text: string; keepAliveMs: number | undefined } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  let head
  try {
    head = parseUpstreamHead(text.slice(0, end), 'GET')
  } catch {
    return undefined
  }
  const { status, reason, framing, contentLength, keepAlive, keepAliveMs } = head
  const body = text.slice(end + 4)
  if (status < 200 || framing !== 'length' || contentLength !== body.length || !keepAlive) {
    return undefined
  }
  const filter = { allowed: new Set<string>(), forPages: false }
  const headers = filterAnswerHeaders(head, filter, own)
  const rendered = renderResponseHead(
    { status, reason, headers, isChecked: true, hasBody: true },
    ending,
  )
  return { text: rendered.text + body, keepAliveMs }
}

function relayed(response: UsualResponse): string {
  const rest = renderOwnLines(response.hasDate, own, ending) + ending.bytes.toString('latin1')
  const buffer = Buffer.alloc(response.lineBytes + rest.length + response.bodyBytes)
  const restAt = response.copyLines(buffer, 0)
  assert.equal(restAt, response.lineBytes)
  buffer.write(rest, restAt, 'latin1')
  response.copyBody(buffer, restAt + rest.length)
  return buffer.toString('latin1')
}

function relayedAsLines(text: string): string | undefined {
  const bytes = Buffer.from(`earlier${text}`, 'latin1')
  const response = reader.read(bytes, 7)
  return response && relayed(response)
}

const usual =
  'HTTP/1.1 200 OK\r\nServer: a\r\nConnection: keep-alive\r\nContent-Type: text/plain\r\nKeep-Alive: timeout=5\r\nX-A: b c\r\nContent-Length: 2\r\n\r\nok'

test('a usual response reaches the caller as the full parser would relay it', () => {
  const relayed = relayedAsLines(usual)
  assert.equal(relayed, relayedInFull(usual)?.text)
  assert.equal(relayed?.includes('timeout=5'), true)
  assert.equal(reader.read(Buffer.from(usual), 0)?.keepAlive, 'timeout=5')
})

const oddities = [' ', '\t', '\r', '\n', '\0', ':', ';', ',', 'x', '0', '\x7f', '\xe9']

const left: readonly (readonly [string, string])[] = [
  ['an interim response', 'HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\nok'],
  ['a response without a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n'],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
  ['a length and chunks', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${usual.slice(17)}`],
  ['no length', 'HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nok'],
  ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
  ['bytes behind the body', `${usual}HTTP/1.1 200 OK\r\n`],
  ['half a body', usual.slice(0, -1)],
  ['a bare line feed', 'HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok'],
  ['a folded line', 'HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok'],
  ['a NUL in a value', 'HTTP/1.1 200 OK\r\nX-A: b\0c\r\nContent-Length: 2\r\n\r\nok'],
  ['a blank before a colon', 'HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 2\r\n\r\nok'],
  ['the end of the connection', usual.replace('keep-alive', 'close')],
  ['headers named by Connection', usual.replace('keep-alive', 'x-a')],
  ['a cookie', usual.replace('X-A', 'Set-Cookie')],
  ['a CORS header', usual.replace('X-A', 'Access-Control-Allow-Origin')],
  ['a header that is ours', usual.replace('X-A', 'Intercept_Request.Id')],
]

for (const [what, text] of left) {
  test(`${what} is left to the full parser`, () => {
    assert.equal(relayedAsLines(text), undefined)
  })
}

test('every mutated response that is read as a usual one is relayed as by the full parser', () => {
  const random = randomFrom(11)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const whole = [usual, ...left.map(([, text]) => text)]
  const lines = whole.flatMap((text) => text.split('\r\n'))
  let read = 0
  for (let round = 0; round < 20_000; round++) {
    const pieces = (random() < 0.5 ? usual : pick(whole)).split('\r\n')
    if (random() < 0.5) pieces.splice(1 + Math.floor(random() * pieces.length), 0, pick(lines))
    let text = pieces.join('\r\n')
    if (random() < 0.5) {
      const at = Math.floor(random() * text.length)
      text = text.slice(0, at) + pick(oddities) + text.slice(at + pick([0, 1]))
    }
    const asLines = relayedAsLines(text)
    if (asLines === undefined) continue
    read++
    assert.equal(asLines, relayedInFull(text)?.text, JSON.stringify(text))
  }
  assert.ok(read > 1000, `only ${read} were read`)
})
