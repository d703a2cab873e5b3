import type { AddressInfo, Server, Socket } from 'node:net'

export type { AddressInfo, Socket } from 'node:net'

/** Accepts connections in another process and passes them to this one. */
export interface Acceptor {
  /**
   * Resolves when connections are accepted at an address; each is passed to `take`, the first ones possibly before this
   * resolves. Rejects with the system's error if the address cannot be used.
   */
  listen(
    where: { readonly host: string; readonly port: number },
    take: (socket: Socket) => void,
  ): Promise<AddressInfo>
  /** To be called when a passed connection has closed. */
  closed(): void
  /** Accepts nothing more for this process; resolves when all that was accepted for it has been passed to `take`. */
  stop(): Promise<void>
}

/** Private property of a server: the number of its connections. */
interface Counting {
  readonly _connections: number
}

/** Private property of a socket: its handle. */
interface Handled {
  readonly _handle: { reading: boolean; readStop(): void } | null
}

/** Gives a server a connection that another process has accepted, as if the server had accepted it itself. */
export function adopt(server: Server, socket: Socket): void {
  // Node creates passed sockets with its defaults, not with the server's settings.
  socket.allowHalfOpen = true
  socket.setNoDelay(true)
  if ((server as { pauseOnConnect?: boolean }).pauseOnConnect === true) stopReading(socket)
  // When the socket closes, it decreases the number of connections of its server, whose close waits for them.
  const { _connections: connections } = server as unknown as Counting
  Object.assign(server, { _connections: connections + 1 })
  Object.assign(socket, { server, _server: server })
  server.emit('connection', socket)
}

/** Node has told the socket to read, but reads nothing before the next turn of the event loop. */
function stopReading(socket: Socket): void {
  socket.pause()
  const { _handle: handle } = socket as unknown as Handled
  if (handle === null) return
  handle.readStop()
  handle.reading = false
}
