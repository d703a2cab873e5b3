// Generates load that wrk cannot: a fixed request rate, event streams, WebSocket frames. `node bench/gateway-load.ts
// <JSON>` runs as its own process on the other core and prints its results as JSON.
import { connect, type Socket } from 'node:net'

/** The load to generate, passed as the only argument. */
export interface LoadOrder {
  readonly kind: 'rate' | 'events' | 'frames'
  readonly port: number
  readonly path: string
  readonly key: string
  readonly seconds: number
  readonly connections: number
  /** Requests per second over all connections. */
  readonly rate?: number
}

/** The results of a load. A latency starts when its request was due, even if the request was sent late. */
export interface LoadSeen {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const order = JSON.parse(process.argv[2] ?? '{}') as LoadOrder
const head = `Host: localhost\r\nX-API-Key: ${order.key}\r\nUser-Agent: bench/1\r\n`
const loads = { rate: offerRate, events: countEvents, frames: bounceFrames }
console.log(JSON.stringify(await loads[order.kind]()))
process.exit(0)

/**
 * Sends each request when it is due, even if earlier ones have not been answered: a client that waited would hide slow
 * responses.
 */
async function offerRate(): Promise<LoadSeen> {
  const request = `GET ${order.path} HTTP/1.1\r\n${head}\r\n`
  const latencies: number[] = []
  const idle: Socket[] = []
  const due: number[] = []
  const startedAt = new WeakMap<Socket, number>()
  const send = (socket: Socket, at: number): void => {
    startedAt.set(socket, at)
    socket.write(request)
  }
  for (const socket of await openAll()) {
    idle.push(socket)
    let seen = ''
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1')
      const end = wholeAt(seen)
      if (end === 0) return
      seen = seen.slice(end)
      latencies.push(performance.now() - (startedAt.get(socket) ?? 0))
      const next = due.shift()
      if (next === undefined) idle.push(socket)
      else send(socket, next)
    })
  }
  const beganAt = performance.now()
  const rate = order.rate ?? 1000
  for (let sent = 0; sent < rate * order.seconds;) {
    const now = performance.now()
    for (; sent < rate * order.seconds && beganAt + (sent * 1000) / rate <= now; sent++) {
      const at = beganAt + (sent * 1000) / rate
      const socket = idle.pop()
      if (socket === undefined) due.push(at)
      else send(socket, at)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  latencies.sort((a, b) => a - b)
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0
  return { count: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}

async function countEvents(): Promise<LoadSeen> {
  let count = 0
  for (const socket of await openAll()) {
    socket.write(`GET ${order.path} HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`)
    socket.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf('data: '); at !== -1; at = chunk.indexOf('data: ', at + 6))
        count++
    })
  }
  await new Promise((resolve) => setTimeout(resolve, order.seconds * 1000))
  return { count, p50Ms: 0, p99Ms: 0 }
}

/** Keeps one frame of 100 bytes in flight on each connection; every frame that returns is sent again. */
async function bounceFrames(): Promise<LoadSeen> {
  // A client must mask its frames (RFC 6455, section 5.3); a mask of zeros leaves the payload unchanged.
  const frame = Buffer.concat([Buffer.from([0x82, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100, 'x')])
  let count = 0
  for (const socket of await openAll()) {
    let isOpen = false
    let bytes = 0
    socket.write(
      `GET ${order.path} HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    socket.on('data', (chunk: Buffer) => {
      if (isOpen) bytes += chunk.length
      const isFirst = !isOpen && chunk.includes('\r\n\r\n')
      if (isFirst) isOpen = true
      if (!isFirst && bytes < frame.length) return
      bytes -= isFirst ? 0 : frame.length
      count++
      socket.write(frame)
    })
  }
  await new Promise((resolve) => setTimeout(resolve, order.seconds * 1000))
  return { count, p50Ms: 0, p99Ms: 0 }
}

async function openAll(): Promise<Socket[]> {
  const opened = Array.from({ length: order.connections }, async () => {
    const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true })
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return socket
  })
  return await Promise.all(opened)
}

/** Returns where a response with Content-Length ends; 0 while it is incomplete. */
function wholeAt(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return 0
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
  return text.length >= end + 4 + length ? end + 4 + length : 0
}
