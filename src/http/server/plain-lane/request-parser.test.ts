import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RequestParser } from './request-parser.ts'

const parser = new RequestParser({ prefix: '/guarded', urlBytes: 100, headBytes: 4096 })
const parse = (text: string) => parser.parse(Buffer.from(text, 'latin1'), 0)

describe('the parser of ordinary requests', () => {
  test('an ordinary request is read as it was written', () => {
    const head =
      'POST /guarded/a?b=c HTTP/1.1\r\nHost: x\r\nX-A:  b c \r\ncontent-length: 3\r\n\r\n'
    assert.deepEqual(parse(`${head}abc`), {
      method: 'POST',
      url: '/guarded/a?b=c',
      rawHeaders: ['Host', 'x', 'X-A', 'b c', 'content-length', '3'],
      contentLength: 3,
      closes: false,
      bodyAt: head.length,
    })
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
      assert.deepEqual(parsed.rawHeaders.slice(2), [`X-${number}`, String(number)])
    }
    assert.equal(parse(`GET /guarded ${lines}Transfer-encoding: x`), 'unusual')
  })
})
