// The upstream for large bodies, event streams and WebSocket echoes; nginx serves the rest. It runs as a process of its
// own, `node bench/gateway-upstream.ts <port>`, so that its CPU time is not charged to any peer.
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'

const large = Buffer.alloc(1024 * 1024, 'x')
const event = `data: ${'x'.repeat(92)}\n\n`
const eventEveryMs = 5

const server = createServer((request, response) => {
  if (request.url?.startsWith('/items/events') === true) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    const timer = setInterval(() => response.write(event), eventEveryMs)
    response.on('close', () => clearInterval(timer))
    return
  }
  request.resume().on('end', () => {
    response.end(request.url?.startsWith('/items/large') === true ? large : 'ok')
  })
})
server.keepAliveTimeout = 60_000
// The handshake's key is not verified, because only the frames after the handshake are measured.
server.on('upgrade', (_request, socket: Duplex) => {
  socket.on('error', () => socket.destroy())
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
  )
  socket.on('data', (frame: Buffer) => socket.write(frame))
})
server.listen(Number(process.argv[2]), '127.0.0.1')
