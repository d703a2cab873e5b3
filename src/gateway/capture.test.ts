import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintCredential } from '../secrets/index.ts'
import { createCapture } from './capture.ts'

const settings = {
  headers: ['content-type', 'x-note'],
  bodyBytes: 4096,
  redact: ['password', 'api.token'],
}

/** Returns what is captured of a request body that arrives in these pieces. */
function kept(pieces: readonly string[], more: Partial<typeof settings> = {}): string {
  const capture = createCapture([], { ...settings, ...more })
  for (const piece of pieces) capture?.request(Buffer.from(piece))
  const { request } = JSON.parse(capture?.text() ?? '{}') as { request: { body?: string } }
  return request.body ?? ''
}

test('a target that captures nothing keeps nothing', () => {
  assert.equal(createCapture(['X-Note', 'x'], undefined), undefined)
})

test('the headers that are kept are those of the list, and no credential of ours in them', () => {
  const key = mintCredential('svc_live_').secret.reveal()
  const capture = createCapture(
    [
      'X-Note',
      `a ${key}`,
      'x-note',
      'b',
      'X-Other',
      'no',
      '__proto__',
      'no',
      'Content-Type',
      'text/x',
    ],
    settings,
  )
  capture?.answer(['X-Note', 'answered', 'Set-Cookie', 'unseen'])
  const text = capture?.text() ?? ''
  assert.ok(!text.includes(key) && !text.includes('unseen'), text)
  const { request, answer } = JSON.parse(text) as Record<string, { headers: object }>
  assert.deepEqual(Object.keys(request?.headers ?? {}), ['x-note', 'content-type'])
  assert.deepEqual(answer?.headers, { 'x-note': 'answered' })
})

const secret = 'hunter2'
const hidings: Readonly<Record<string, string>> = {
  'a member': `{"user":"ada","password":"${secret}"}`,
  'a member in other letters, with much white space': `{ "PassWord"${' '.repeat(40)}:\n\t"${secret}" }`,
  'a member within members': `{"a":[{"b":{"password":"${secret}"}}]}`,
  'an object': `{"password":{"value":"${secret}","more":["${secret}"]},"user":"ada"}`,
  'a list': `{"password":["x","${secret}"],"user":"ada"}`,
  'an escaped name': `{"pass\\u0077ord":"${secret}"}`,
  'an escaped value': `{"password":"a\\"${secret}"}`,
  'JSON in a string': JSON.stringify({ payload: JSON.stringify({ password: secret }) }),
  'JSON in a string in a string': JSON.stringify([
    JSON.stringify([JSON.stringify({ password: secret })]),
  ]),
  'a form in a string': JSON.stringify({ body: `user=ada&password=${secret}` }),
  'lines of JSON': `{"user":"ada"}\n{"password":"${secret}"}\n`,
  events: `data: {"password":"${secret}"}\n\n`,
  'a member behind a stray quote': `it"s {"password":"${secret}"}`,
  'a form': `user=ada&password=${secret}`,
  'a form with an escaped name': `pass%77ord=${secret}&user=ada`,
  'a field of a field': `user[password]=${secret}`,
  'a form whose blanks are not escaped': `user=ada&password=a ${secret}&more=1`,
  'a form whose quotes are not escaped': `password="${secret}"&user=ada`,
  'a line of text that is no form': `state=fine\nlogged in with password=${secret}`,
  'JSON in a form': `payload=${encodeURIComponent(`{"user":"ä","password":"${secret}"}`)}&user=ada`,
  'a form in a form': `body=${encodeURIComponent(`user=ada&password=${secret}`)}`,
  'JSON in a form that is cut off': `payload=${encodeURIComponent(`{"password":"${secret}`)}%2`,
  'a name with a dot': `{"api.token":"${secret}"}`,
  parts: `--b\r\nContent-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\n${secret}\r\n--b--\r\n`,
  'a part that is a field of a field': `--b\r\nContent-Disposition: form-data; name="user[password]"\r\n\r\n${secret}\r\n--b--\r\n`,
  'a part with lines that begin like a boundary': `--b\r\nContent-Disposition: form-data; name="password"; filename="a.pem"\r\n\r\n-----BEGIN CERTIFICATE-----\r\nx\r\n-----END CERTIFICATE-----\r\n-----BEGIN PRIVATE KEY-----\r\n${secret}\r\n-----END PRIVATE KEY-----\r\n--b--\r\n`,
  'a value that is cut off': `{"password":"${secret}`,
  'an object that is cut off': `{"password":{"value":"${secret}`,
}
for (const [name, body] of Object.entries(hidings)) {
  test(`the value of a named field is blacked out in ${name}`, () => {
    assert.ok(!kept([body]).includes(secret), kept([body]))
    // The result must not depend on how the body was split into pieces.
    assert.equal(kept(body.split('')), kept([body]))
  })
}

test('what is not named stays readable', () => {
  for (const body of [
    '{"user":"ada","passwords":"x","note":"a=b","n":1}',
    'user=ada&note=%22x%22%3D&passwords=x',
    '7',
  ]) {
    assert.equal(kept([body]), body)
  }
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  assert.equal(
    kept([`${part('password', secret)}${part('user', 'ada')}--b--`]),
    `${part('password', '…')}${part('user', 'ada')}--b--`,
  )
})

test('JSON in UTF-16 is read as such: its names would not be found in its bytes', () => {
  const little = Buffer.from(`{"user":"ada","password":"${secret}"}`, 'utf16le')
  const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), little])
  const big = Buffer.from(little).swap16()
  for (const body of [little, marked, big]) {
    const capture = createCapture([], settings)
    capture?.request(body)
    const { request } = JSON.parse(capture?.text() ?? '{}') as { request: { body?: string } }
    assert.equal(request.body, '{"user":"ada","password":"…"}')
  }
})

test('at most so many bytes are kept, compressed bodies not at all, and all are counted', () => {
  const capture = createCapture([], { ...settings, bodyBytes: 10 })
  for (let at = 0; at < 1000; at++) capture?.body(Buffer.alloc(1000, 'x'))
  const { answer } = JSON.parse(capture?.text() ?? '{}') as {
    answer: { body: string; bytes: number }
  }
  assert.deepEqual(answer, { headers: {}, body: 'x'.repeat(10), bytes: 1_000_000 })

  const compressed = createCapture(['Content-Encoding', 'gzip'], settings)
  compressed?.request(Buffer.from('anything'))
  const { request } = JSON.parse(compressed?.text() ?? '{}') as { request: object }
  assert.deepEqual(request, { headers: {}, bytes: 8 })
})

// test/steps.test.ts counts the steps that this masking takes.
test('hostile bodies are blacked out', () => {
  for (const unit of [
    '"',
    '\\',
    '"a":',
    '{"password":',
    '&password',
    'name="password"\r\n',
    '\\"',
    '[',
    'a=',
  ]) {
    const body = `password=${secret}&${unit.repeat(16_000 / unit.length)}`
    assert.ok(!kept([body], { bodyBytes: 16_384 }).includes(secret), JSON.stringify(unit))
  }
})
