import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { listenLocally, type LocalServer } from './local-server.ts'
import { nodeHttp } from '../../http/message/index.ts'

const maxBody = 64 * 1024
const maxEvents = 3600

/** Starts the demo's API. It echoes requests and WebSocket messages; /events sends one event per second. */
export async function startUpstream(): Promise<LocalServer> {
  const server = nodeHttp.createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  server.on('upgrade', (request, socket) => openWebSocket(request, socket))
  return await listenLocally(server, 0)
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://upstream')
  if (url.pathname === '/events')
    return streamEvents(countOf(url.searchParams.get('count')), response)
  const body = await readBody(request)
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const seen = { method: request.method, url: request.url, headers: request.headers, body }
  response.end(`${JSON.stringify(seen, undefined, 2)}\n`)
}

/** Returns how many events to send: as many as possible unless the caller names a number. */
function countOf(text: string | null): number {
  return text !== null && /^\d+$/.test(text) ? Math.min(Number(text), maxEvents) : maxEvents
}

function streamEvents(count: number, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  if (count === 0) {
    response.end()
    return
  }
  let sent = 0
  const send = (): void => {
    sent++
    response.write(`id: ${sent}\ndata: ${JSON.stringify({ event: sent, at: new Date() })}\n\n`)
    if (sent >= count) response.end()
  }
  send()
  const ticking = setInterval(() => {
    if (!response.writableEnded) send()
  }, 1000)
  response.on('close', () => clearInterval(ticking))
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) {
    if (body.length < maxBody) body += String(piece)
  }
  return body.slice(0, maxBody)
}

/** Performs the WebSocket handshake (RFC 6455, section 4.2.2), then echoes every short message. */
function openWebSocket(request: IncomingMessage, socket: Duplex): void {
  const key = request.headers['sec-websocket-key'] ?? ''
  const accept = createHash('sha1')
    .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  let waiting = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (piece: Buffer) => {
    waiting = Buffer.concat([waiting, piece])
    for (let frame = readFrame(waiting); frame !== undefined; frame = readFrame(waiting)) {
      waiting = waiting.subarray(frame.size)
      if (frame.opcode === closing) socket.end(frameOf(closing, frame.payload))
      else if (frame.opcode === ping) socket.write(frameOf(pong, frame.payload))
      else if (frame.opcode !== pong) socket.write(frameOf(frame.opcode, frame.payload))
    }
    if (waiting.length > maxBody) socket.destroy()
  })
}

const closing = 8
const ping = 9
const pong = 10

/**
 * Parses a complete masked frame from the start of some bytes (RFC 6455, section 5.2); returns undefined for an
 * incomplete frame and for one of 64 KiB or more.
 */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 6) return undefined
  const short = bytes.readUInt8(1) & 127
  const start = short === 126 ? 4 : 2
  if (short === 127 || bytes.length < start + 4) return undefined
  const length = short === 126 ? bytes.readUInt16BE(2) : short
  const size = start + 4 + length
  if (bytes.length < size) return undefined
  const mask = bytes.subarray(start, start + 4)
  const payload = Buffer.from(bytes.subarray(start + 4, size))
  for (let at = 0; at < length; at++) payload[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0)
  return { opcode: bytes.readUInt8(0) & 15, payload, size }
}

function frameOf(opcode: number, payload: Buffer): Buffer {
  const head =
    payload.length < 126
      ? Buffer.from([128 | opcode, payload.length])
      : Buffer.from([128 | opcode, 126, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, payload])
}
