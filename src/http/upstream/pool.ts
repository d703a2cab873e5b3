import { connect as connectNet } from 'node:net'
import type { Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import { ReadBuffer } from '../message/read-buffer.ts'
import { createConnector, systemConnect } from '../outbound/connector.ts'
import type { ConnectTo, Connector, Destination } from '../outbound/connector.ts'
import type { AddressGuard } from '../outbound/guard.ts'
import { OutboundError } from '../outbound/outbound-error.ts'
import type { Resolve } from '../outbound/resolver.ts'
import { UpstreamConnection } from './connection.ts'

/** The upstream's time limits, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
}

/** Replaceable, so that tests need no network. */
export interface UpstreamDeps {
  readonly clock: Clock
  readonly guard: AddressGuard
  readonly resolve: Resolve
  /** Opens plain connections; tests hand in their own. */
  readonly connect?: ConnectTo
}

/** All connections to upstreams. */
export interface Upstreams {
  open(where: Destination, connectMs: number): UpstreamOrigin
  /** The number of connections to all upstreams. */
  connections(): { readonly open: number; readonly idle: number }
  [Symbol.asyncDispose](): Promise<void>
}

const sweepMs = 100
const idleMs = 4000
const connectionsPerOrigin = 4096

/** Creates the pools: one per origin, all watched by one timer. */
export function createUpstreams(deps: UpstreamDeps): Upstreams {
  const origins = new Set<UpstreamOrigin>()
  const time = { nowMs: deps.clock.monotonic() }
  let timer: NodeJS.Timeout | undefined

  function sweep(): void {
    time.nowMs = deps.clock.monotonic()
    for (const origin of origins) if (!origin.sweep(time.nowMs)) origins.delete(origin)
    if (origins.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  /** Watches an origin only while it has connections, so that a node that makes no calls is not woken. */
  function watch(origin: UpstreamOrigin): void {
    origins.add(origin)
    if (timer !== undefined) return
    time.nowMs = deps.clock.monotonic()
    timer = setInterval(sweep, sweepMs).unref()
  }

  return {
    open: (where, connectMs) => {
      const connector = createConnector({
        guard: deps.guard,
        resolve: deps.resolve,
        connect: deps.connect ?? (where.secure ? systemConnect : connectPlain),
        timeoutMs: connectMs,
      })
      const origin = new UpstreamOrigin({
        destination: where,
        connector,
        time,
        used: () => watch(origin),
      })
      return origin
    },
    connections: () => {
      let [open, idle] = [0, 0]
      for (const origin of origins) {
        open += origin.size
        idle += origin.idle
      }
      return { open, idle }
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      for (const origin of origins) origin.close()
      origins.clear()
    },
  }
}

/** The connections to one origin of one target; never shared with another host or another target. */
export class UpstreamOrigin {
  readonly #destination: Destination
  readonly #connector: Connector
  readonly #time: { nowMs: number }
  readonly #used: () => void
  readonly #idle: UpstreamConnection[] = []
  readonly #all = new Set<UpstreamConnection>()
  #closed = false
  #connecting = 0

  constructor(given: {
    destination: Destination
    connector: Connector
    time: { nowMs: number }
    used: () => void
  }) {
    this.#destination = given.destination
    this.#connector = given.connector
    this.#time = given.time
    this.#used = given.used
  }

  /** Monotonic milliseconds, as precise as the sweep (100 ms). */
  get nowMs(): number {
    return this.#time.nowMs
  }

  /** The number of open connections. */
  get size(): number {
    return this.#all.size
  }

  /** The number of idle connections. */
  get idle(): number {
    return this.#idle.length
  }

  /** An idle connection, the most recently used first; undefined if there is none. */
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

  /** Opens a new connection to an address that passed the guard; throws `OutboundError`. */
  async connect(signal: AbortSignal): Promise<UpstreamConnection> {
    if (this.#all.size + this.#connecting >= connectionsPerOrigin) {
      throw new OutboundError('connect', 'too many connections to this upstream')
    }
    this.#used()
    this.#connecting++
    try {
      const socket = await this.#connector(this.#destination, signal)
      const connection = new UpstreamConnection(socket, (which, reusable) =>
        this.#release(which, reusable),
      )
      if (!attach(socket, (bytes) => connection.receive(bytes))) {
        connection.destroy()
        throw new OutboundError('invalid', 'the upstream spoke before it was asked')
      }
      this.#all.add(connection)
      return connection
    } finally {
      this.#connecting--
    }
  }

  /** Closes connections that are late or unused; returns false when the origin needs no more watching. */
  sweep(nowMs: number): boolean {
    for (const connection of this.#all) {
      if (nowMs >= connection.deadlineAt) connection.expire()
      else if (nowMs >= connection.expiresAt) connection.destroy()
    }
    return this.#all.size > 0 || this.#connecting > 0
  }

  /** Closes idle connections now, and the others after their response. */
  close(): void {
    this.#closed = true
    for (const connection of this.#idle.splice(0)) connection.destroy()
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

// One buffer for all plain sockets: each read is processed before the next can begin.
const shared = new ReadBuffer()

/** For each plain socket, the function that gets its bytes; TLS sockets are read as streams. */
const receivers = new WeakMap<Socket, { received: (bytes: Buffer) => void; spokeFirst: boolean }>()

/** Opens a plain socket that reads into the shared buffer, the fastest way in node:net. */
function connectPlain(address: string, port: number): Socket {
  // Windows reads into the buffer in the background, so each socket needs its own there.
  const buffer = process.platform === 'win32' ? new ReadBuffer() : shared
  const receiver = {
    received: (_bytes: Buffer): void => {
      receiver.spokeFirst = true
    },
    spokeFirst: false,
  }
  const socket = connectNet({
    host: address,
    port,
    noDelay: true,
    keepAlive: true,
    onread: {
      buffer: buffer.bytes,
      callback: (count) => {
        receiver.received(buffer.view(count))
        return true
      },
    },
  })
  receivers.set(socket, receiver)
  return socket
}

/** Routes a socket's reads to a connection; false if the upstream sent data before it was asked. */
function attach(socket: Socket, received: (bytes: Buffer) => void): boolean {
  const receiver = receivers.get(socket)
  if (receiver === undefined) {
    socket.on('data', received)
    return true
  }
  receiver.received = received
  return !receiver.spokeFirst
}
