import { connect as connectNet, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { lookup } from 'node:dns/promises'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../clock.ts'
import { UpstreamConnection } from './connection.ts'

/** How long an upstream may take, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
}

/** Where an upstream is. */
export interface UpstreamSettings {
  readonly protocol: 'http:' | 'https:'
  /** A name (`[a-z0-9.-]+`) or a literal address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** A CA certificate of the target's own (PEM); undefined trusts the system's. */
  readonly ca?: string | undefined
}

export interface ConnectOptions extends UpstreamSettings {
  /** The address that was checked, and the only one that may be connected to. */
  readonly address: string
  readonly received: (bytes: Buffer) => void
}

/** What varies, so that tests need no network. */
export interface UpstreamNeeds {
  readonly clock: Clock
  /** 'ok', or why this address must not be connected to. */
  readonly checkAddress: (address: string) => string
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Opens a socket that hands what it reads to `received`; 'connect' or 'secureConnect' says it is ready. */
  readonly connect?: (options: ConnectOptions) => Socket
}

/** All connections to upstreams. */
export interface Upstreams {
  open(settings: UpstreamSettings): UpstreamOrigin
  [Symbol.asyncDispose](): Promise<void>
}

const sweepMs = 100
const idleMs = 4000
const connectionsPerOrigin = 4096

/** An upstream that could not be reached; the message is for the log. */
export class Unreachable extends Error {
  readonly timedOut: boolean

  constructor(message: string, more: { timedOut?: boolean; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.timedOut = more.timedOut ?? false
  }
}

/** Opens the pools: one per origin, watched by one timer. */
export function createUpstreams(needs: UpstreamNeeds): Upstreams {
  const origins = new Set<UpstreamOrigin>()
  const time = { nowMs: needs.clock.monotonic() }
  const sweep = setInterval(() => {
    time.nowMs = needs.clock.monotonic()
    for (const origin of origins) if (!origin.sweep(time.nowMs)) origins.delete(origin)
  }, sweepMs)
  sweep.unref()
  return {
    open: (settings) => {
      const origin = new UpstreamOrigin(settings, needs, time, () => origins.add(origin))
      return origin
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(sweep)
      for (const origin of origins) origin.close()
      origins.clear()
    },
  }
}

/** The connections to one origin of one target; never shared with another host or another target. */
export class UpstreamOrigin {
  readonly #settings: UpstreamSettings
  readonly #needs: UpstreamNeeds
  readonly #time: { nowMs: number }
  readonly #used: () => void
  readonly #idle: UpstreamConnection[] = []
  readonly #all = new Set<UpstreamConnection>()
  #closed = false
  #connecting = 0

  constructor(
    settings: UpstreamSettings,
    needs: UpstreamNeeds,
    time: { nowMs: number },
    used: () => void,
  ) {
    this.#settings = settings
    this.#needs = needs
    this.#time = time
    this.#used = used
  }

  /** Monotonic milliseconds, as exact as the sweep (100 ms). */
  get nowMs(): number {
    return this.#time.nowMs
  }

  /** Connections open at present. */
  get size(): number {
    return this.#all.size
  }

  /** A connection that waits for work, the most recently used first; undefined when there is none. */
  takeIdle(): UpstreamConnection | undefined {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) return undefined
      if (connection.alive && connection.expiresAt > this.#time.nowMs) {
        connection.expiresAt = Infinity
        return connection
      }
      connection.destroy()
    }
  }

  /** Opens a new connection to an address that passed the guard; throws `Unreachable`. */
  async connect(timeoutMs: number, signal: AbortSignal): Promise<UpstreamConnection> {
    if (this.#all.size + this.#connecting >= connectionsPerOrigin) {
      throw new Unreachable('too many connections to this upstream')
    }
    this.#used()
    this.#connecting++
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      return await this.#connectToAny(AbortSignal.any([timeout, signal]))
    } catch (cause) {
      if (timeout.aborted)
        throw new Unreachable('connecting took too long', { timedOut: true, cause })
      throw cause instanceof Unreachable ? cause : new Unreachable('connecting failed', { cause })
    } finally {
      this.#connecting--
    }
  }

  /** Ends what is late or unused; false when the origin needs no watching any more. */
  sweep(nowMs: number): boolean {
    for (const connection of [...this.#all]) {
      if (nowMs >= connection.deadlineAt) connection.expire()
      else if (nowMs >= connection.expiresAt) connection.destroy()
    }
    return this.#all.size > 0 || this.#connecting > 0
  }

  /** Ends idle connections now and the others after their answer. */
  close(): void {
    this.#closed = true
    for (const connection of this.#idle.splice(0)) connection.destroy()
  }

  async #connectToAny(signal: AbortSignal): Promise<UpstreamConnection> {
    const addresses = await abortable(this.#addresses(), signal)
    let last: unknown = new Unreachable('the name has no address')
    for (const address of addresses) {
      const verdict = this.#needs.checkAddress(address)
      if (verdict !== 'ok') {
        last = new Unreachable(`the address ${address} must not be called: ${verdict}`)
        continue
      }
      try {
        return await this.#connectTo(address, signal)
      } catch (error) {
        last = error
        if (signal.aborted) break
      }
    }
    throw last
  }

  async #addresses(): Promise<readonly string[]> {
    const { host } = this.#settings
    if (isIP(host) !== 0) return [host]
    return (this.#needs.resolve ?? resolveAll)(host)
  }

  async #connectTo(address: string, signal: AbortSignal): Promise<UpstreamConnection> {
    // The socket may read before the connection object exists only in theory: an upstream does not speak first.
    let received = (_bytes: Buffer): void => {}
    const socket = (this.#needs.connect ?? openSocket)({
      ...this.#settings,
      address,
      received: (bytes) => received(bytes),
    })
    await ready(socket, this.#settings.protocol === 'https:' ? 'secureConnect' : 'connect', signal)
    const connection = new UpstreamConnection(socket, (which, reusable) =>
      this.#release(which, reusable),
    )
    received = (bytes) => connection.receive(bytes)
    this.#all.add(connection)
    this.#used()
    return connection
  }

  #release(connection: UpstreamConnection, reusable: boolean): void {
    if (!reusable) {
      this.#all.delete(connection)
      return
    }
    if (this.#closed) {
      connection.destroy()
      return
    }
    connection.expiresAt = this.#time.nowMs + connection.idleForMs(idleMs)
    this.#idle.push(connection)
  }
}

async function resolveAll(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([work, aborted(signal)])
}

async function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

async function ready(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | undefined) => {
      socket.off(event, connected)
      socket.off('error', settle)
      socket.off('close', closed)
      signal.removeEventListener('abort', abort)
      if (error === undefined) {
        resolve()
        return
      }
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const connected = () => settle(undefined)
    const closed = () => settle(new Error('closed while connecting'))
    const abort = () => settle(signal.reason as Error)
    socket.once(event, connected)
    socket.once('error', settle)
    socket.once('close', closed)
    signal.addEventListener('abort', abort, { once: true })
  })
}

// One buffer for all plain sockets: each read is digested before the next can begin.
const shared = Buffer.allocUnsafeSlow(64 * 1024)

function openSocket(options: ConnectOptions): Socket {
  const where = { host: options.address, port: options.port, noDelay: true, keepAlive: true }
  if (options.protocol === 'https:') {
    const socket = connectTls({
      ...where,
      // No `session` is ever handed in: nothing is resumed across hosts (SECURITY.md P17).
      servername: isIP(options.host) === 0 ? options.host : '',
      ALPNProtocols: ['http/1.1'],
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    })
    socket.on('data', options.received)
    return socket
  }
  // Windows reads into the buffer in the background, so that there each socket needs its own.
  const buffer = process.platform === 'win32' ? Buffer.allocUnsafeSlow(64 * 1024) : shared
  return connectNet({
    ...where,
    onread: {
      buffer,
      callback: (count, bytes) => {
        options.received((bytes as Buffer).subarray(0, count))
        return true
      },
    },
  })
}
