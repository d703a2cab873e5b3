// Upstreams for tests: a normal one that records what it receives, and a raw one that sends exactly the bytes that a
// test wants.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createServer as createNetServer, type AddressInfo, type Socket } from 'node:net'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly body: string
}

export interface TestUpstream extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly seen: SeenRequest[]
  /** Returns how many connections have been opened so far. */
  readonly connections: () => number
  /** Lets a function accept upgrades; without it, requests for an upgrade are answered like any others. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Starts an upstream that reads each body completely, records the request and responds with `answer`. */
export async function upstreamForTests(answer: Answer = sayOk): Promise<TestUpstream> {
  const seen: SeenRequest[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1')
      const { method = '', url = '', rawHeaders } = request
      seen.push({ method, url, rawHeaders, body })
      answer(request, response, body)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    connections: () => connections,
    onUpgrade: (take) => void server.on('upgrade', take),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface RawUpstream extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Returns everything received so far on all connections, in the order in which it arrived. */
  readonly received: () => string
  readonly sockets: ReadonlySet<Socket>
}

/** Starts an upstream that passes each connection's bytes to a function. */
export async function rawUpstream(
  speak: (socket: Socket, text: string) => void,
): Promise<RawUpstream> {
  let received = ''
  const sockets = new Set<Socket>()
  const server = createNetServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      received += text
      speak(socket, text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received: () => received,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function sayOk(_request: IncomingMessage, response: ServerResponse): void {
  response.end('ok')
}
