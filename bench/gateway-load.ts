// Generates the load that wrk cannot generate: event streams and WebSocket frames.
// Usage: node bench/gateway-load.ts <JSON>; prints its results as JSON.
import { connect, type Socket } from 'node:net'

export interface LoadOrder {
  readonly kind: 'events' | 'frames'
  readonly port: number
  readonly path: string
  readonly key: string
  readonly seconds: number
  readonly connections: number
}

export interface LoadSeen {
  readonly count: number
}

const order = JSON.parse(process.argv[2] ?? '{}') as LoadOrder
const head = `Host: localhost\r\nX-API-Key: ${order.key}\r\nUser-Agent: bench/1\r\n`
const loads = { events: countEvents, frames: bounceFrames }
console.log(JSON.stringify(await loads[order.kind]()))
process.exit(0)

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
  return { count }
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
      if (!isOpen) {
        // The response to the handshake is not counted; it only starts the first frame.
        isOpen = chunk.includes('\r\n\r\n')
        if (isOpen) socket.write(frame)
        return
      }
      bytes += chunk.length
      if (bytes < frame.length) return
      bytes -= frame.length
      count++
      socket.write(frame)
    })
  }
  await new Promise((resolve) => setTimeout(resolve, order.seconds * 1000))
  return { count }
}

async function openAll(): Promise<Socket[]> {
  const opened = Array.from({ length: order.connections }, async () => {
    const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true })
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return socket
  })
  return await Promise.all(opened)
}
