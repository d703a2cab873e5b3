import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RequestParser } from './request-parser.ts'

const parser = new RequestParser({ prefix: '/guarded', urlBytes: 100, headBytes: 4096 })
const parse = (text: string) => parser.parse(Buffer.from(text, 'latin1'), 0)

describe('the parser of ordinary requests', () => {
  test('an ordinary request is read as it was written', () => {
    const head =
      'POST /guarded/a?b=c HTTP/1.1\r\nHost: x\r\nX-A:  b c \r\ncontent-length: 3\r\n\r\n'
    const fields = {
      rawHeaders: ['Host', 'x', 'X-A', 'b c', 'content-length', '3'],
      contentLength: 3,
      closes: false,
      bytes: undefined,
      head: undefined,
    }
    assert.deepEqual(parse(`${head}abc`), {
      method: 'POST',
      url: '/guarded/a?b=c',
      fields,
      fieldsAt: head.indexOf('Host'),
      bodyAt: head.length,
    })
  })

  test('header lines that were kept are recognized only if they come again byte for byte, and whole', () => {
    const lines = 'Host: x\r\nX-A: b\r\nContent-Length: 2\r\n\r\n'
    const kept = {
      rawHeaders: ['kept', 'lines'],
      contentLength: 2,
      closes: false,
      bytes: Buffer.from(lines),
      head: undefined,
    }
    const keptParts = { withoutBody: kept, withBody: undefined, url: '' }
    const line = 'GET /guarded/b HTTP/1.1\r\n'
    const again = parser.parse(Buffer.from(`..${line}${lines}ok`), 2, keptParts)
    assert.ok(typeof again === 'object')
    assert.equal(again.fields, kept)
    assert.equal(again.url, '/guarded/b')
    assert.equal(again.bodyAt, 2 + line.length + lines.length)
    for (let cut = 0; cut < lines.length; cut++) {
      const outcome = parser.parse(Buffer.from(line + lines.slice(0, cut)), 0, keptParts)
      assert.equal(outcome, 'partial', lines.slice(0, cut))
    }
    for (let at = 0; at < lines.length; at++) {
      const other = Buffer.from(line + lines)
      other[line.length + at] = (other[line.length + at] ?? 0) ^ 1
      const outcome = parser.parse(other, 0, keptParts)
      assert.ok(typeof outcome === 'string' || outcome.fields !== kept, String(at))
    }
    const long = Buffer.from(`GET /guarded/${'b'.repeat(50)} HTTP/1.1\r\n${lines}`)
    const narrow = new RequestParser({ prefix: '/guarded', urlBytes: 100, headBytes: 100 })
    assert.equal(narrow.parse(long, 0, keptParts), narrow.parse(long, 0))
  })

  test('a URL that was kept is recognized only if it comes again byte for byte, and whole', () => {
    const url = '/guarded/a?b'
    const kept = { withoutBody: undefined, withBody: undefined, url }
    const texts = ['', 'c', '/', '?', ' ', '#', '\xe9', '/guarded/a?b'].flatMap((more) => [
      `${url}${more}`,
      `${more}${url}`,
      `${url.slice(0, -1)}${more}`,
    ])
    for (const text of texts) {
      for (const version of [
        ' HTTP/1.1\r\nHost: x\r\n\r\n',
        ' HTTP/1.0\r\n\r\n',
        '\r\n',
        ' ',
        '',
      ]) {
        const bytes = Buffer.from(`..POST ${text}${version}`, 'latin1')
        assert.deepEqual(parser.parse(bytes, 2, kept), parser.parse(bytes, 2), bytes.toString())
      }
    }
    const narrow = new RequestParser({ prefix: '/guarded', urlBytes: 100, headBytes: 16 })
    const long = Buffer.from(`GET ${url} HTTP/1.1\r\n\r\n`)
    assert.equal(narrow.parse(long, 0, kept), 'unusual')
    assert.equal(narrow.parse(long.subarray(0, 15), 0, kept), 'partial')
  })

  test('the beginning of an ordinary request, cut anywhere, waits for more', () => {
    const head =
      'DELETE /guarded/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 12\r\n\r\n'
    for (let cut = 1; cut < head.length; cut++) {
      assert.equal(parse(head.slice(0, cut)), 'partial', head.slice(0, cut))
    }
    assert.equal(typeof parse(head), 'object')
  })

  const lines = 'HTTP/1.1\r\nHost: x\r\n'
  for (const text of [
    'get /guarded/a',
    'BREW /guarded/a',
    'GET /elsewhere',
    'GET /guardedx ',
    'GET /guarded#x ',
    'GET /guarded/\xe9 ',
    `GET /guarded/${'a'.repeat(100)} `,
    'GET /guarded HTTP/1.0',
    'GET /guarded HTTP/1.1\n',
    'GET  /guarded',
    `GET /guarded ${lines} X: y`,
    `GET /guarded ${lines}X : y`,
    `GET /guarded ${lines}X: y\n`,
    `GET /guarded ${lines}X: y\rZ`,
    `GET /guarded ${lines}X: \ty`,
    `GET /guarded ${lines}X: \xe9`,
    `GET /guarded ${lines}X: y\0`,
    `GET /guarded ${lines}Transfer-Encoding:`,
    `GET /guarded ${lines}Expect:`,
    `GET /guarded ${lines}Upgrade:`,
    `GET /guarded ${lines}TE:`,
    `GET /guarded ${lines}Connection: x\r\n`,
    `GET /guarded ${lines}Connection: close\r\nConnection:`,
    `GET /guarded ${lines}Content-Length: 5\r\ncontent-length:`,
    `GET /guarded ${lines}Content-Length: 5,`,
    `GET /guarded ${lines}Content-Length: +`,
    `GET /guarded ${lines}Content-Length: 05`,
    `GET /guarded ${lines}Content-Length:\r\n`,
    `GET /guarded ${lines}${'A: b\r\n'.repeat(64)}`,
    `GET /guarded ${lines}X: ${'a'.repeat(5000)}`,
    '\r\nGET /guarded',
  ]) {
    test(`${JSON.stringify(text.slice(0, 60))} is nothing to wait for: the standard lane judges it`, () => {
      assert.equal(parse(text), 'unusual')
    })
  }

  test('a name is told by its bytes, whatever stands in the table already', () => {
    for (let number = 0; number < 3000; number++) {
      const parsed = parse(`GET /guarded ${lines}X-${number}: ${number}\r\n\r\n`)
      assert.ok(typeof parsed === 'object')
      assert.deepEqual(parsed.fields.rawHeaders.slice(2), [`X-${number}`, String(number)])
    }
    assert.equal(parse(`GET /guarded ${lines}Transfer-encoding: x`), 'unusual')
  })
})
