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
    const attempt = new Attempt(deps.timeoutMs, signal)
    try {
      const addresses = (await resolved(to.host, deps.resolve, attempt)).slice(0, maxAddresses)
      for (const address of addresses) {
        const reason = deps.guard.checkAddress(address)
        if (reason !== undefined) {
          throw new OutboundError('blocked', `addresses of this kind must not be called: ${reason}`)
        }
      }
      const socket = await connectToFirst(addresses, { ...deps, port: to.port, attempt })
      return to.secure ? await startTls(socket, to, attempt) : socket
    } finally {
      attempt.close()
    }
  }
}

/**
 * An attempt to connect, until it runs out of time or is given up. Nothing clears the timers and weak references of
 * `AbortSignal.timeout` and `AbortSignal.any`, so they outlive the attempt and burden the garbage collector.
 */
class Attempt {
  readonly timeoutMs: number
  /** Set once the attempt has run out of time or been given up. */
  failure: OutboundError | undefined
  /** What to do if the attempt ends during the current step. */
  onFailure: ((failure: OutboundError) => void) | undefined
  readonly #timer: NodeJS.Timeout
  readonly #signal: AbortSignal | undefined

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs
    this.#timer = setTimeout(() => this.#fail(tooSlow()), timeoutMs).unref()
    this.#signal = signal
    if (signal?.aborted === true) this.#giveUp()
    else signal?.addEventListener('abort', this.#giveUp)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#giveUp)
  }

  readonly #giveUp = (): void => {
    this.#fail(new OutboundError('aborted', 'the call was given up'))
  }

  #fail(failure: OutboundError): void {
    this.failure ??= failure
    this.onFailure?.(this.failure)
  }
}

function tooSlow(): OutboundError {
  return new OutboundError('timeout', 'connecting took too long')
}

async function resolved(
  host: string,
  resolve: Resolve,
  attempt: Attempt,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  if (attempt.failure !== undefined) throw attempt.failure
  const ended = Promise.withResolvers<never>()
  attempt.onFailure = ended.reject
  return await Promise.race([resolve(host), ended.promise])
}

async function connectToFirst(
  addresses: readonly string[],
  how: { connect: ConnectTo; port: number; attempt: Attempt },
): Promise<Socket> {
  const { attempt } = how
  let failure: unknown
  const shareMs = Math.ceil(attempt.timeoutMs / addresses.length)
  for (const address of addresses) {
    if (attempt.failure !== undefined) throw attempt.failure
    try {
      return await opened(how.connect(address, how.port), 'connect', { attempt, shareMs })
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

async function startTls(raw: Socket, to: Destination, attempt: Attempt): Promise<Socket> {
  const options: ConnectionOptions = {
    socket: raw,
    // The certificate is verified against this; SNI carries names only (RFC 6066, section 3).
    host: to.host,
    ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
    ALPNProtocols: ['http/1.1'],
    ...(to.ca === undefined ? {} : { ca: to.ca }),
  }
  return await opened(connectTls(options), 'secureConnect', {
    attempt,
    shareMs: attempt.timeoutMs,
  })
}

/**
 * Waits at most `shareMs` for a socket's event, and no longer than the attempt lasts; destroys the socket if the event
 * does not come.
 */
async function opened(
  socket: Socket,
  event: string,
  { attempt, shareMs }: { attempt: Attempt; shareMs: number },
): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const done = (error?: unknown): void => {
      socket.off(event, succeed)
      socket.off('error', done)
      socket.off('close', closed)
      attempt.onFailure = undefined
      clearTimeout(share)
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
    const closed = (): void => done(new OutboundError('reset', 'the connection broke at its start'))
    socket.on(event, succeed)
    socket.on('error', done)
    socket.on('close', closed)
    attempt.onFailure = done
    const share =
      shareMs < attempt.timeoutMs ? setTimeout(() => done(tooSlow()), shareMs).unref() : undefined
    if (attempt.failure !== undefined) done(attempt.failure)
  })
}
