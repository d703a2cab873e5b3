import { connect, Server, type AddressInfo, type Socket } from 'node:net'
import { nextTurn } from '../../timers.ts'

// Shorter than any turn of the event loop that does work.
const idleTurnMs = 0.1
const maxIdleWaitMs = 250
const maxAcceptMs = 2000

/** Private property of a listening server: its handle. */
interface Listening {
  readonly _handle: Handle | null
}

interface Handle {
  /** Undefined in a worker of a cluster, whose supervisor accepts connections for it. */
  readonly fd?: number
  listen(backlog: number): number
}

/**
 * Closes a listener without resetting a connection that a caller has already made: closing resets those that still wait
 * in the kernel's queue, even if requests were sent on them. Waits at most two seconds. `closed` is called when the
 * last open connection has ended.
 */
export async function stopAccepting(
  server: Server,
  monotonic: () => number,
  closed: () => void,
): Promise<void> {
  const { _handle: handle } = server as unknown as Listening
  const address = server.address()
  if (handle?.fd === undefined || typeof address !== 'object' || address === null) {
    await idleTurn(monotonic)
  } else {
    await acceptUpToOwn(server, address, handle)
  }
  // Not http's own close, which cuts idle connections at once although their next request may be on its way.
  Server.prototype.close.call(server, closed)
}

/**
 * Resolves after an idle turn of the event loop, by which time every earlier connection has been accepted. If the
 * loop is never idle, it waits at most 250 ms.
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
 * Resolves at the moment at which every connection that a caller has made is accepted. Two connections of our own are
 * put at the end of the kernel's queue, whose length is then limited to none: Linux lets nobody join a queue that is
 * over its limit, which this one is until the second is accepted. When the first is, all others have been. Who tries to
 * connect meanwhile tries again after a second, and is refused; only a connection whose handshake is half done at the
 * moment of the limit is still reset.
 */
async function acceptUpToOwn(
  server: Server,
  { port, address }: AddressInfo,
  handle: Handle,
): Promise<void> {
  const own = [0, 1].map(() => connect({ port, host: reachable(address) }))
  const [first] = own
  const accepted = Promise.withResolvers<void>()
  const onConnection = (socket: Socket): void => {
    if (socket.remotePort === first?.localPort) accepted.resolve()
  }
  server.on('connection', onConnection)
  for (const socket of own) socket.on('error', accepted.resolve)
  // net.connect connects in the next tick; this runs after it, and before the event loop accepts either.
  process.nextTick(() => handle.listen(0))
  const limit = setTimeout(accepted.resolve, maxAcceptMs)
  await accepted.promise
  clearTimeout(limit)
  server.off('connection', onConnection)
  for (const socket of own) socket.destroy()
}

function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  return address === '::' ? '::1' : address
}
