import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Arrival {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A receiver on a free loopback port; its response can be changed at any time. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly arrivals: Arrival[]
  /** Responds to a delivery; by default with 204. */
  answer: (response: ServerResponse, arrival: Arrival) => void
}

export async function startReceiver(): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const arrival = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
        at: Date.now(),
      }
      receiver.arrivals.push(arrival)
      receiver.answer(response, arrival)
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals: [],
    answer: (response) => response.writeHead(204).end(),
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
  return receiver
}
