import { Socket, type Server } from 'node:net'
import { ReadBuffer } from '../../message/read-buffer.ts'

/** Properties of accepted sockets that no type declares: their handle, and the server that counts them. */
interface Accepted {
  _handle: unknown
  _server: unknown
}

// One buffer for all connections: each read is processed before the next can begin.
const shared = new ReadBuffer()

/**
 * Tells a server not to read accepted connections, as `readShared` requires; does nothing where reads are not shared.
 */
export function acceptUnread(server: Server): void {
  if (isPossible) Object.assign(server, { pauseOnConnect: true })
}

/**
 * Gives an accepted, unread connection a socket that reads into the shared buffer. `node:net` offers that only for
 * outgoing sockets, and a buffer and a stream push per read cost more than parsing. The bytes passed to `take` are
 * valid only during the call; it returns false when it wants no more. Undefined if this is impossible; the connection
 * is then read as a stream.
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
  // A handle may have only one owner, and the server counts a connection as ended when that owner ends.
  Object.assign(accepted, { _handle: null, _server: null })
  Object.assign(socket, { _server: server, server })
  return socket
}

// Windows reads into the buffer in the background, so each socket needs its own there.
const isPossible = process.platform !== 'win32'
