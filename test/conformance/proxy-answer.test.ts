import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gatewayForTests, prefix, until } from '../harness/gateway.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { statusesOf } from '../harness/raw.ts'
import { rawUpstream } from '../harness/upstream.ts'
import type { RawUpstream } from '../harness/upstream.ts'

/** Responses that are ambiguous, malformed, unexpected or excessive: the caller gets a 502 instead. */
const broken: [name: string, answer: string][] = [
  [
    'CL and TE',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['two CL', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
  ['a CL list', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
  ['a CL that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok'],
  ['TE gzip, chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['TE on HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['NUL in a value', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n'],
  ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
  ['a bare CR in a value', 'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n'],
  ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['status 099', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n'],
  ['a head above 64 KiB', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`],
  ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}`],
  [
    'seventeen interim answers',
    `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(17)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  ],
]

/** Responses with a valid head and a broken body: the caller must see an abort, never a clean end. */
const truncated: [name: string, answer: string][] = [
  ['a CL body that ends early', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'],
  [
    'a chunked body that ends early',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
  ],
  ['a bad chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'],
  [
    'a chunk without CRLF',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n',
  ],
  ['a bare LF after a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n'],
]

describe('answers of upstreams', () => {
  let gateway: TestGateway
  let upstream: RawUpstream
  let answer = ''
  let end = true
  before(async () => {
    gateway = await gatewayForTests()
    upstream = await rawUpstream((socket) => {
      if (end) socket.end(answer, 'latin1')
      else socket.write(answer, 'latin1')
    })
    await gateway.run(
      'target',
      'set',
      'acme',
      'raw',
      '--upstream',
      upstream.url,
      '--first-byte',
      '1s',
      '--idle',
      '1s',
    )
  })
  after(async () => {
    await upstream[Symbol.asyncDispose]()
    await gateway[Symbol.asyncDispose]()
  })

  async function ask(path = '/x', method = 'GET'): Promise<string> {
    const text = `${method} ${prefix}/raw${path} HTTP/1.1\r\nHost: a\r\n{key}\r\nConnection: close\r\n\r\n`
    return await gateway.raw(text, { quietMs: 3000 })
  }

  for (const [name, text] of broken) {
    test(`${name} is 502 upstream_invalid`, async () => {
      answer = text
      end = true
      const transcript = await ask()
      assert.match(transcript, /^HTTP\/1\.1 502 [^]*upstream_invalid/)
      assert.doesNotMatch(transcript, /Set-Cookie|SSH|aaaa/)
    })
  }

  for (const [name, text] of truncated) {
    test(`${name} breaks the connection instead of ending it cleanly`, async () => {
      answer = text
      end = true
      const transcript = await ask()
      // The response must neither end cleanly nor announce the three bytes that arrived as its whole length.
      const clean = /^HTTP\/1\.1 200 [^]*\r\n0\r\n\r\n$/.test(transcript)
      assert.ok(
        !clean && !/^HTTP\/1\.1 200 [^]*Content-Length: 3\r\n/i.test(transcript),
        transcript,
      )
    })
  }

  test('an upstream that closes without a word is 502', async () => {
    answer = ''
    end = true
    assert.match(await ask(), /^HTTP\/1\.1 502 /)
  })

  test('surplus bytes after an answer, or a body after 204, never answer the next caller', async () => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned'
    end = false
    for (const first of [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      'HTTP/1.1 204 No Content\r\n\r\n',
      'HTTP/1.1 204 No Content\r\nContent-Length: 44\r\n\r\n',
      'HTTP/1.1 304 Not Modified\r\n\r\n',
    ]) {
      answer = first + poison
      assert.doesNotMatch(await ask(), /poisoned/)
      answer = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nclean'
      assert.match(await ask(), /^HTTP\/1\.1 200 [^]*clean$/)
    }
    answer = `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n`
    assert.doesNotMatch(await ask('/x', 'HEAD'), /poisoned/)
  })

  test('a 204 that announces a body reaches the caller without the announcement', async () => {
    end = false
    answer = 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nabcde'
    const transcript = await ask()
    assert.match(transcript, /^HTTP\/1\.1 204 /)
    assert.doesNotMatch(transcript, /content-length|abcde/i)
  })

  test('an upstream that says nothing is 504 at its first-byte deadline', async () => {
    answer = ''
    end = false
    const startedAt = performance.now()
    assert.match(await ask(), /^HTTP\/1\.1 504 [^]*upstream_timeout/)
    const tookMs = performance.now() - startedAt
    // The target's own deadline of 1 s applied, not the default of a minute; the bound is loose for a busy machine.
    assert.ok(tookMs > 900 && tookMs < 30_000, `${tookMs} ms`)
  })

  test('an answer that stalls is cut at its idle deadline', async () => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'
    end = false
    const startedAt = performance.now()
    const transcript = await ask()
    assert.match(transcript, /^HTTP\/1\.1 200 [^]*abc$/)
    const tookMs = performance.now() - startedAt
    // The target's own idle deadline applied, not the default of several minutes.
    assert.ok(tookMs < 30_000, `${tookMs} ms`)
  })

  const key = 'dGhlIHNhbXBsZSBub25jZQ=='
  const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
  const handshake = (lines: string) => `HTTP/1.1 101 Switching Protocols\r\n${lines}\r\nspeaks`
  for (const [name, lines] of [
    ['h2c', `Connection: Upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Accept: ${accept}\r\n`],
    ['no Sec-WebSocket-Accept', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
    [
      "another key's Sec-WebSocket-Accept",
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAALMBiTxaQ9kYGzzhZRbK+xOo=\r\n',
    ],
    [
      'two of them',
      `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Accept: ${accept}\r\n`,
    ],
    ['no Connection', `Upgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n`],
    [
      'two protocols',
      `Connection: Upgrade\r\nUpgrade: websocket, h2c\r\nSec-WebSocket-Accept: ${accept}\r\n`,
    ],
  ] as const) {
    test(`a 101 with ${name} is no WebSocket: 502, and nothing of it passes`, async () => {
      end = false
      answer = handshake(lines)
      const said = await gateway.raw(
        `GET ${prefix}/raw/x HTTP/1.1\r\nHost: a\r\n{key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      )
      assert.deepEqual(statusesOf(said), [502])
      assert.match(said, /\r\nIntercept-Refused: upstream_invalid\r\n/)
      assert.doesNotMatch(said, /speaks/)
    })
  }

  test('a 101 with the right Sec-WebSocket-Accept passes, with the bytes behind it', async () => {
    end = false
    answer = handshake(
      `Connection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Accept: ${accept}\r\n`,
    )
    const said = await gateway.raw(
      `GET ${prefix}/raw/x HTTP/1.1\r\nHost: a\r\n{key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    )
    assert.deepEqual(statusesOf(said), [101])
    assert.ok(said.endsWith('speaks'))
  })

  test('hop-by-hop headers and those that act on our origin are dropped from answers', async () => {
    end = false
    const dropped = [
      'Keep-Alive: timeout=9',
      'Proxy-Authenticate: x',
      'Upgrade: h2c',
      'X-Hop: 1',
      'Set-Cookie: __Host-session=evil',
      'Set-Cookie: a=b',
      'Clear-Site-Data: "*"',
      'Alt-Svc: h3=":443"',
      'Strict-Transport-Security: max-age=1',
      'Service-Worker-Allowed: /',
      'NEL: {"report_to":"x","max_age":9}',
      'Report-To: {"group":"x"}',
      'Reporting-Endpoints: x="https://evil.example"',
      'Set-Login: logged-out',
      'Accept-CH: Sec-CH-UA-Model',
      'Critical-CH: Sec-CH-UA-Model',
      'Origin-Agent-Cluster: ?1',
      'Set.Login: logged-out',
      'Report.To: {"group":"y"}',
      'intercept.refused: rule_denied',
      'Intercept-Refused: rule_denied',
      'Intercept-Request-Id: forged',
      'Intercept_Refused: rule_denied',
      'intercept_key_id: forged',
      'Set_Cookie: a=b',
      'Access-Control-Allow-Origin: *',
      'Access-Control-Allow-Credentials: true',
    ]
    answer = `HTTP/1.1 200 Fine Indeed\r\n${dropped.join('\r\n')}\r\nConnection: X-Hop, keep-alive\r\nX-Kept: yes\r\nx-kept: again\r\nContent-Length: 2\r\n\r\nok`
    const transcript = await ask()
    const [head = ''] = transcript.split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 200 Fine Indeed\r\n/)
    assert.match(head, /X-Kept: yes\r\nx-kept: again/)
    for (const line of dropped) assert.ok(!head.includes(line), line)
    assert.equal(head.match(/Intercept-Request-Id/gi)?.length, 1)
  })

  test('what an upstream says about pages is relayed by a target that is meant for pages', async () => {
    end = false
    answer =
      'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: https://app.test\r\nContent-Length: 2\r\n\r\nok'
    // The command has a database connection of its own, so the node learns of the change a few milliseconds later.
    await gateway.run('target', 'set', 'acme', 'pages', '--upstream', upstream.url, '--browsers')
    await until(async () => (await gateway.call('/pages/x', gateway.bearer)).status === 200)
    const relayed = await gateway.raw(`GET ${prefix}/pages/x HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n`)
    assert.match(relayed, /Access-Control-Allow-Origin: https:\/\/app\.test\r\n/)
    assert.doesNotMatch(await ask(), /access-control/i)
  })

  test('redirects are relayed, not followed', async () => {
    end = false
    answer =
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\n\r\n'
    assert.match(
      await ask(),
      /^HTTP\/1\.1 302 Found\r\n[^]*Location: http:\/\/127\.0\.0\.1:1\/elsewhere\r\n/,
    )
  })

  test('an answer without length ends with its connection, and is told as chunked', async () => {
    end = true
    answer = 'HTTP/1.1 200 OK\r\n\r\nuntil the end'
    assert.match(await ask(), /Transfer-Encoding: chunked\r\n\r\nd\r\nuntil the end\r\n0\r\n\r\n$/i)
  })

  test('a dead kept connection is tried once more for GET, and not for POST', async () => {
    end = false
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    for (const [method, expected] of [
      ['GET', 200],
      ['POST', 502],
    ] as const) {
      assert.match(await ask(), /^HTTP\/1\.1 200 /)
      const [kept] = upstream.sockets
      // The upstream resets the kept connection at the next request; it answers on a new connection.
      kept?.removeAllListeners('data')
      kept?.on('data', () => kept.resetAndDestroy())
      const transcript = await ask('/again', method)
      assert.match(transcript, new RegExp(`^HTTP/1\\.1 ${expected} `), method)
      for (const socket of upstream.sockets) socket.destroy()
      await until(() => upstream.sockets.size === 0)
    }
  })

  test('103 Early Hints is relayed before the answer', async () => {
    end = false
    answer =
      'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    assert.match(await ask(), /^HTTP\/1\.1 103 [^]*a\.css[^]*HTTP\/1\.1 200 /)
  })

  test('no trailer says what the head may not', async () => {
    end = false
    answer =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nAccess_Control-Allow-Origin: *\r\nSet-Cookie: canary=1\r\nIntercept-Refused: canary\r\nX-Sum: 7\r\n\r\n'
    const transcript = await ask()
    assert.match(transcript, /\r\nX-Sum: 7\r\n/)
    assert.doesNotMatch(transcript, /canary|Access/)
  })

  for (const [name, link, relayed] of [
    ['several links in one line', '</a.css>; rel=preload, </b.js>; rel="preload"', true],
    ['a link that nobody can read', 'a.css; rel=preload', false],
    ['a link that takes Node for ever', `<a.css>${';a='.repeat(60)} "`, false],
  ] as const) {
    test(`103 with ${name} does not spoil the answer that follows`, async () => {
      end = false
      answer = `HTTP/1.1 103 Early Hints\r\nLink: ${link}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`
      const statuses = statusesOf(await ask())
      assert.deepEqual(statuses, relayed ? [103, 200] : [200])
    })
  }

  test('a caller that leaves cancels the upstream before its first byte', async () => {
    end = false
    answer = ''
    const socket = connect(gateway.product.port, '127.0.0.1')
    socket.write(
      `GET ${prefix}/raw/leave HTTP/1.1\r\nHost: a\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n\r\n`,
    )
    await until(() => upstream.received().includes('/leave'))
    const before = upstream.sockets.size
    socket.destroy()
    await until(() => upstream.sockets.size < before)
  })
})
