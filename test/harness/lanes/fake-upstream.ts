// An upstream in this process: parses the gateway's requests naively and responds by path.
import { FakeSocket } from './fake-socket.ts'

export class FakeUpstream {
  /** The received requests, as latin1 text. */
  readonly seen: string[] = []

  connect(): FakeSocket {
    let waiting = ''
    const socket = new FakeSocket((text) => {
      waiting += text
      for (let end = requestEnd(waiting); end > 0; end = requestEnd(waiting)) {
        const request = waiting.slice(0, end)
        waiting = waiting.slice(end)
        this.seen.push(request)
        // As on a network, the response arrives only after the request has been sent.
        setImmediate(() => this.#answer(socket, request))
      }
    })
    process.nextTick(() => socket.emit('connect'))
    return socket
  }

  #answer(socket: FakeSocket, request: string): void {
    const [, method = '', path = ''] = /^(\S+) \/([a-z0-9-]*)/.exec(request) ?? []
    const body = `${request.length} bytes`
    const whole = `HTTP/1.1 200 OK\r\nX-From: upstream\r\nContent-Length: ${body.length}\r\n\r\n`
    const text = answers[path] ?? whole + body
    if (method === 'HEAD') {
      const end = text.indexOf('\r\n\r\n', text.lastIndexOf('HTTP/1.1 ')) + 4
      socket.feed(Buffer.from(text.slice(0, end), 'latin1'))
      return
    }
    socket.feed(Buffer.from(text, 'latin1'))
    if (closing.has(path)) socket.endInput()
  }
}

const answers: Readonly<Record<string, string>> = {
  chunked:
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n',
  close: 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end',
  none: 'HTTP/1.1 204 No Content\r\n\r\n',
  same: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 10\r\n\r\n',
  early:
    'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok',
  broken: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
  half: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
  big: `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
  events: 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n',
  dated:
    'HTTP/1.1 201 Created\r\nDate: Sun, 22 Nov 2026 00:00:00 GMT\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
  usual:
    'HTTP/1.1 404 Not  Found\r\nServer: x\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5, max=9\r\nX-A: a b\r\nContent-Type: text/plain\r\ncontent-length: 2\r\nX-Last: \xe9\r\n\r\nno',
  withheld:
    'HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nIntercept-Request-Id: req_1\r\nX-Padded:  x \r\nX-Empty:\r\nConnection: x-a\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok',
  odd: 'HTTP/1.1 299 \r\nX-Odd: caf\xe9\r\nContent-Length: 1\r\n\r\nz',
}

const closing = new Set(['close', 'half', 'events'])

/** Finds where the first request in these bytes ends; 0 while it is incomplete. */
function requestEnd(text: string): number {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return 0
  const lines = text.slice(0, head).toLowerCase()
  if (lines.includes('\r\ntransfer-encoding: chunked')) return chunksEnd(text, head + 4)
  const length = Number(/\r\ncontent-length: (\d+)/.exec(lines)?.[1] ?? 0)
  return text.length >= head + 4 + length ? head + 4 + length : 0
}

function chunksEnd(text: string, start: number): number {
  let at = start
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) return 0
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    at = lineEnd + 2
    if (size === 0) break
    at += size + 2
  }
  if (text.startsWith('\r\n', at)) return at + 2
  const end = text.indexOf('\r\n\r\n', at)
  return end === -1 ? 0 : end + 4
}
