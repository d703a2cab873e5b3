import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type { AddressGuard } from './guard.ts'
import { OutboundError, asOutboundError } from './outbound-error.ts'
import type { Resolve } from './resolver.ts'

/** Opens a TCP connection to one address; tests hand in their own. */
export type ConnectTo = (address: string, port: number) => Socket

export interface Destination {
  /** A host name, or a literal address without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  /** PEM certificates to trust instead of those that Node trusts by default. */
  readonly ca?: string | undefined
}

/** Opens a connection to a destination; every address is checked before it is used. */
export type Connector = (to: Destination, signal?: AbortSignal) => Promise<Socket>

/**
 * Addresses tried per name. The owner of a name could list thousands in one DNS answer, and trying them all would
 * attack whoever has those addresses.
 */
const maxAddresses = 16

/** Opens an ordinary TCP connection without Nagle's algorithm. */
export function systemConnect(address: string, port: number): Socket {
  return connectTcp({ host: address, port, noDelay: true, keepAlive: true })
}

/**
 * Creates a connector that resolves a name, checks **every** address that it may connect to and connects to the checked
 * address itself, so that no second look-up can return another one (DNS rebinding). If one of these addresses is
 * forbidden, none of them is called. `timeoutMs` limits look-up, TCP and TLS together.
 */
export function createConnector(deps: {
  guard: AddressGuard
  resolve: Resolve
  connect: ConnectTo
  timeoutMs: number
}): Connector {
  return async (to, signal) => {
    const timeout = AbortSignal.timeout(deps.timeoutMs)
    const stop = signal ? AbortSignal.any([signal, timeout]) : timeout
    const found = isIP(to.host) === 0 ? await untilStopped(deps.resolve(to.host), stop) : [to.host]
    const addresses = found.slice(0, maxAddresses)
    for (const address of addresses) {
      const reason = deps.guard.checkAddress(address)
      if (reason !== undefined) {
        throw new OutboundError('blocked', `addresses of this kind must not be called: ${reason}`)
      }
    }
    const socket = await connectToFirst(addresses, { ...deps, port: to.port, stop })
    return to.secure ? await startTls(socket, to, stop) : socket
  }
}

async function connectToFirst(
  addresses: readonly string[],
  how: { connect: ConnectTo; timeoutMs: number; port: number; stop: AbortSignal },
): Promise<Socket> {
  const { stop } = how
  let failure: unknown
  const shareMs = Math.ceil(how.timeoutMs / addresses.length)
  for (const address of addresses) {
    const share = AbortSignal.any([stop, AbortSignal.timeout(shareMs)])
    try {
      return await opened(how.connect(address, how.port), 'connect', share)
    } catch (error) {
      failure = error
      if (stop.aborted) break
    }
  }
  throw failure
}

async function startTls(raw: Socket, to: Destination, stop: AbortSignal): Promise<Socket> {
  const options: ConnectionOptions = {
    socket: raw,
    // The certificate is verified against this; SNI carries names only (RFC 6066, section 3).
    host: to.host,
    ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
    ALPNProtocols: ['http/1.1'],
    ...(to.ca === undefined ? {} : { ca: to.ca }),
  }
  return await opened(connectTls(options), 'secureConnect', stop)
}

async function opened(socket: Socket, event: string, stop: AbortSignal): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const done = (error?: unknown): void => {
      socket.off(event, succeed)
      socket.off('error', fail)
      socket.off('close', closed)
      stop.removeEventListener('abort', stopped)
      if (error === undefined) {
        resolve(socket)
        return
      }
      // The socket may fail again, and an error event without a listener would end the process.
      socket.on('error', () => undefined)
      socket.destroy()
      reject(asOutboundError(error))
    }
    const succeed = (): void => done()
    const fail = (error: unknown): void => done(error)
    const closed = (): void => done(new OutboundError('reset', 'the connection broke at its start'))
    const stopped = (): void => done(stopError(stop))
    socket.once(event, succeed)
    socket.once('error', fail)
    socket.once('close', closed)
    if (stop.aborted) stopped()
    else stop.addEventListener('abort', stopped, { once: true })
  })
}

async function untilStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  return await new Promise((resolve, reject) => {
    const stopped = (): void => reject(stopError(stop))
    if (stop.aborted) stopped()
    stop.addEventListener('abort', stopped, { once: true })
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', stopped))
  })
}

function stopError(stop: AbortSignal): OutboundError {
  const timedOut = (stop.reason as { name?: string } | undefined)?.name === 'TimeoutError'
  return timedOut
    ? new OutboundError('timeout', 'connecting took too long')
    : new OutboundError('aborted', 'the call was given up')
}
