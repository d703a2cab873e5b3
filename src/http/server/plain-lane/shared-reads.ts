import { Socket, type Server } from 'node:net'
import { ReadBuffer } from '../../message/read-buffer.ts'

/** What accepted sockets have in Node and no type says: their handle, and the server that counts them. */
interface Accepted {
  _handle: unknown
  _server: unknown
}

// One buffer for all connections: each read is digested before the next can begin.
const shared = new ReadBuffer()

/** Tells a server to leave what it accepts unread, as `readShared` wants it; does nothing where reads are not shared. */
export function acceptUnread(server: Server): void {
  if (isPossible) Object.assign(server, { pauseOnConnect: true })
}

/**
 * Gives an accepted, unread connection a socket that reads into the shared buffer: `node:net` offers that for sockets that
 * connect only, and a buffer and a stream's push for each read cost more than parsing it. The bytes that `take` gets are
 * good during the call only; it answers false when it wants no more. Undefined where the socket can't be had that way; it is then read as a stream.
 */
export function readShared(accepted: Socket, take: (bytes: Buffer) => boolean): Socket | undefined {
  const { _handle: handle, _server: server } = accepted as unknown as Accepted
  if (!isPossible || !accepted.isPaused() || typeof handle !== 'object' || handle === null) {
    return undefined
  }
  const options = {
    handle: handle as never,
    allowHalfOpen: true,
    onread: {
      buffer: shared.bytes,
      callback(count: number) {
        return take(shared.view(count))
      },
    },
  }
  const socket = new Socket(options)
  // The handle has one owner, and the server counts it as the connection that ends.
  Object.assign(accepted, { _handle: null, _server: null })
  Object.assign(socket, { _server: server, server })
  return socket
}

// Windows reads into the buffer in the background, so that there each socket needs its own.
const isPossible = process.platform !== 'win32'
