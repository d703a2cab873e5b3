// Offers calls at a fixed rate, which a generator that waits for responses cannot: it would send fewer while a peer, or
// the whole machine, stands still, and not count the calls that should have come. This process is the upstream of these
// calls too, and never waits for the kernel to wake it, because a generator and an upstream on one core would take turns
// of several milliseconds.
// Usage: node <flags of gateway-paced-load.ts> bench/gateway-paced.ts <port of the upstream>; reads orders as lines of
// JSON and answers each with one.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '../test/harness/random.ts'
import { pacedWarmUpMs } from './gateway-paced-load.ts'
import { monotonicMs } from './machine.ts'

export interface PacedOrder {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly perSecond: number
  readonly seconds: number
}

/** All calls, also those before the measured ones, in the order of their responses. */
export interface PacedSeen {
  /** When each call was due, in milliseconds of `monotonicMs`. */
  readonly dueMs: readonly number[]
  /** Milliseconds from then to the end of the response. */
  readonly tookMs: readonly number[]
  /** Calls that were due before this time were the warm-up. */
  readonly measuredFromMs: number
}

const connections = 64
/** How long to wait for the responses to the last calls. */
const endMs = 10_000
const body = 'x'.repeat(1024)
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Sat, 28 Nov 2026 12:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`,
  'latin1',
)

/** Answers each request without a body on a connection with 1 KB; nothing else of a request is looked at. */
async function serveUpstream(port: number): Promise<void> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    let ended = 0
    socket.on('data', (chunk: Buffer) => {
      for (const byte of chunk) {
        // An empty line ends a request: CR, LF, CR, LF.
        if (byte === (ended % 2 === 0 ? 0x0d : 0x0a)) ended++
        else ended = byte === 0x0d ? 1 : 0
        if (ended < 4) continue
        ended = 0
        socket.write(response)
      }
    })
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
}

async function offer(order: PacedOrder): Promise<PacedSeen> {
  const request = Buffer.from(
    `GET ${order.path} HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\nX-API-Key: ${order.key}\r\nUser-Agent: bench/1\r\nAccept: application/json\r\n\r\n`,
    'latin1',
  )
  const calls = new Calls(request, order)
  await Promise.all(
    Array.from({ length: connections }, async () => await calls.connect(order.port)),
  )
  await setTimeout(100)
  // A full collection takes about 16 ms, so one is made before calls are measured.
  globalThis.gc?.()
  const start = performance.now()
  const measuredFrom = start + pacedWarmUpMs
  const end = measuredFrom + order.seconds * 1000
  const random = randomFrom(1)
  let due = start
  await new Promise<void>((resolve, reject) => {
    const turn = (): void => {
      const now = performance.now()
      // Gaps between calls of independent callers are distributed exponentially.
      for (; due <= now && due < end; due -= (Math.log(1 - random()) * 1000) / order.perSecond) {
        calls.add(due)
      }
      if (now < end || (calls.areOpen && now < end + endMs)) setImmediate(turn)
      else if (calls.areOpen) reject(new Error(`calls without a response after ${endMs} ms`))
      else resolve()
    }
    turn()
  })
  calls.close()
  const clockMs = monotonicMs() - performance.now()
  return {
    dueMs: calls.dueMs.map((each) => Number((each + clockMs).toFixed(3))),
    tookMs: calls.tookMs.map((each) => Number(each.toFixed(3))),
    measuredFromMs: measuredFrom + clockMs,
  }
}

/** The calls of one order; those for which no connection is free wait in the order in which they are due. */
class Calls {
  // These arrays never grow: copying them would stop the load, and the delay would count against the peer.
  readonly #dueMs: Float64Array
  readonly #tookMs: Float64Array
  readonly #waitingMs: Float64Array
  readonly #request: Buffer
  readonly #free: Connection[] = []
  readonly #sockets: Socket[] = []
  #added = 0
  #sent = 0
  #ended = 0

  constructor(request: Buffer, { perSecond, seconds }: PacedOrder) {
    this.#request = request
    // The standard deviation of the number of calls is the square root of the expected number.
    const expected = perSecond * (seconds + pacedWarmUpMs / 1000)
    const most = Math.ceil(expected + 10 * Math.sqrt(expected))
    this.#dueMs = new Float64Array(most)
    this.#tookMs = new Float64Array(most)
    this.#waitingMs = new Float64Array(most)
  }

  get dueMs(): readonly number[] {
    return [...this.#dueMs.subarray(0, this.#ended)]
  }

  get tookMs(): readonly number[] {
    return [...this.#tookMs.subarray(0, this.#ended)]
  }

  get areOpen(): boolean {
    return this.#ended < this.#added
  }

  async connect(port: number): Promise<void> {
    const connection: Connection = { dueMs: 0, missing: 0, write: () => {} }
    const socket = connect({
      ...{ port, host: '127.0.0.1', noDelay: true },
      onread: {
        buffer: Buffer.alloc(8192),
        callback: (count, bytes) => this.#take(connection, bytes as Buffer, count),
      },
    })
    await once(socket, 'connect')
    socket.on('close', () => {
      throw new Error('the peer closed a connection')
    })
    connection.write = () => socket.write(this.#request)
    this.#sockets.push(socket)
    this.#free.push(connection)
  }

  add(dueMs: number): void {
    if (this.#added === this.#waitingMs.length) throw new Error('more calls than expected')
    this.#waitingMs[this.#added++] = dueMs
    this.#send()
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy()
  }

  #send(): void {
    while (this.#sent < this.#added) {
      const connection = this.#free.shift()
      if (connection === undefined) return
      connection.dueMs = this.#waitingMs[this.#sent++] ?? 0
      connection.write()
    }
  }

  #take(connection: Connection, bytes: Buffer, count: number): true {
    if (connection.missing === 0) {
      const text = bytes.toString('latin1', 0, count)
      const head = text.indexOf('\r\n\r\n') + 4
      const length = /content-length: (\d+)/i.exec(text)?.[1]
      if (!text.startsWith('HTTP/1.1 200') || head < 4 || length === undefined) {
        throw new Error(`an unexpected response: ${text}`)
      }
      connection.missing = head + Number(length)
    }
    connection.missing -= count
    if (connection.missing < 0) throw new Error('bytes behind a response')
    if (connection.missing > 0) return true
    this.#dueMs[this.#ended] = connection.dueMs
    this.#tookMs[this.#ended++] = performance.now() - connection.dueMs
    this.#free.push(connection)
    this.#send()
    return true
  }
}

interface Connection {
  dueMs: number
  /** Bytes of the response that have not arrived. */
  missing: number
  write(): void
}

await serveUpstream(Number(process.argv[2]))
for await (const line of createInterface(process.stdin)) {
  console.log(JSON.stringify(await offer(JSON.parse(line) as PacedOrder)))
}
process.exit(0)
