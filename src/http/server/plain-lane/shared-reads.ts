import { Socket, type Server } from 'node:net'
import { turnReads } from '../../message/end-of-turn.ts'
import { SharedBuffer } from '../../message/shared-buffer.ts'
import type { TurnReader } from '../../message/turn-reads.ts'

/** Private properties of accepted sockets: their handle, and the server that counts them. */
interface Accepted {
  _handle: unknown
  _server: unknown
}

// One buffer for all connections: each read is copied or handled before the next can begin.
const shared = new SharedBuffer()

/**
 * Makes a server accept connections without reading from them, as `readShared` requires; does nothing where reads are
 * not shared.
 */
export function acceptUnread(server: Server): void {
  if (isPossible) Object.assign(server, { pauseOnConnect: true })
}

/**
 * Moves an accepted, unread connection to a new socket that reads into the shared buffer, which `node:net` offers only
 * for outgoing sockets. With an ordinary socket, the buffer and the stream push for each read would cost more than
 * parsing. Returns undefined if the buffer cannot be shared: the connection must then be read as a stream.
 */
export function readShared(accepted: Socket, reader: TurnReader): Socket | undefined {
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
        return turnReads.add(reader, shared, count)
      },
    },
  }
  const socket = new Socket(options)
  // A handle may have only one owner, and the server counts a connection as closed when that owner closes.
  Object.assign(accepted, { _handle: null, _server: null })
  Object.assign(socket, { _server: server, server })
  return socket
}

// Windows fills the buffer in the background, so sockets cannot share one there.
const isPossible = process.platform !== 'win32'
