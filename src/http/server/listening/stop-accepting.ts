import { connect, Server, type AddressInfo, type Socket } from 'node:net'
import { nextTurn } from '../../../timers.ts'

// A turn of the event loop that is shorter than this did no work.
const idleTurnMs = 0.1
const maxIdleWaitMs = 250

/** How many connections may wait in the kernel's queue of a listener; the system's own limit may be lower. */
export const listenBacklog = 4096

/** How long a listener that closes may take to accept the connections that callers have already made, in milliseconds. */
export const maxAcceptMs = 2000

/** Private property of a listening server: its handle. */
interface Listening {
  readonly _handle: Handle | null
}

interface Handle {
  listen(backlog: number): number
}

/**
 * Closes a listener without resetting the connections that callers have already made: a plain close would reset those
 * that still wait in the kernel's queue, even if requests were sent on them. Waits about `acceptMs` at most, in
 * milliseconds. `closed` is called when the last open connection has ended.
 */
export async function stopAccepting(
  server: Server,
  given: {
    readonly acceptMs: number
    readonly monotonic: () => number
    readonly closed: () => void
  },
): Promise<void> {
  const { _handle: handle } = server as unknown as Listening
  const address = server.address()
  const hasQueue = handle !== null && typeof address === 'object' && address !== null
  const isEmpty = hasQueue && (await acceptUpToOwn(server, address, { handle, ...given }))
  if (!isEmpty) await idleTurn(given.monotonic)
  closeWhenUnused(server, given.closed)
}

/** Closes a server's listener, if it has one; `closed` is called when the last open connection has ended. */
export function closeWhenUnused(server: Server, closed: () => void): void {
  // Calls the close of node:net, because that of node:http would also cut idle connections at once, although their next
  // requests may be on their way. That of a server that never listened passes an error to its callback, which says
  // nothing here.
  Server.prototype.close.call(server, () => closed())
}

/**
 * Resolves after an idle turn of the event loop, by which time every earlier connection has been accepted, or after 250
 * ms if no turn is idle.
 */
async function idleTurn(monotonic: () => number): Promise<void> {
  const startedAt = monotonic()
  for (let before = startedAt; ;) {
    await nextTurn()
    const now = monotonic()
    if (now - before < idleTurnMs || now - startedAt > maxIdleWaitMs) return
    before = now
  }
}

/**
 * Resolves with true as soon as every connection that callers have made is accepted, or with false if that cannot be
 * known. Two connections of our own join the end of the kernel's queue, and then the queue's limit is set to 0. Linux
 * adds no connection to a queue that is over its limit, and this queue is over it until our second connection is
 * accepted. So once our first connection is accepted, no caller's connection is left in the queue. Only a connection
 * whose handshake is half done when the limit is set can still be reset.
 */
async function acceptUpToOwn(
  server: Server,
  { port, address }: AddressInfo,
  { handle, acceptMs }: { readonly handle: Handle; readonly acceptMs: number },
): Promise<boolean> {
  const own = [0, 1].map(() => connect({ port, host: reachable(address) }))
  const [first] = own
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const onConnection = (socket: Socket): void => {
    if (socket.remotePort === first?.localPort) resolve(true)
  }
  // Runs before the front's own listener, because the plain lane takes the handle from the socket, which then no longer
  // knows its remote port.
  server.prependListener('connection', onConnection)
  for (const socket of own) socket.on('error', () => resolve(false))
  // net.connect connects in the next tick. This callback runs after that, when both connections are in the queue, and
  // before the event loop accepts either of them.
  process.nextTick(() => handle.listen(0))
  const limit = setTimeout(() => resolve(false), acceptMs)
  const isEmpty = await promise
  clearTimeout(limit)
  server.off('connection', onConnection)
  for (const socket of own) socket.destroy()
  // Raises the limit again: while it is 0, callers could send requests on connections that are then reset.
  if (!isEmpty) handle.listen(listenBacklog)
  return isEmpty
}

function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  return address === '::' ? '::1' : address
}
