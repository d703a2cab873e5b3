// The upstream of what nginx cannot answer: bodies that are read, events, WebSocket frames that come back.
// `node bench/gateway-upstream.ts <port>`; a process of its own, so that its CPU is nobody else's.
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
// The key of the handshake is not looked at: what is measured comes after it.
server.on('upgrade', (_request, socket: Duplex) => {
  socket.on('error', () => socket.destroy())
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
  )
  socket.on('data', (frame: Buffer) => socket.write(frame))
})
server.listen(Number(process.argv[2]), '127.0.0.1')
