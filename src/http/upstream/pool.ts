import { connect as connectNet } from 'node:net'
import type { Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import { turnReads } from '../message/end-of-turn.ts'
import { SharedBuffer } from '../message/shared-buffer.ts'
import { createConnector, systemConnect } from '../outbound/connector.ts'
import type { ConnectTo, Connector, Destination } from '../outbound/connector.ts'
import type { AddressGuard } from '../outbound/guard.ts'
import { OutboundError } from '../outbound/outbound-error.ts'
import type { Resolve } from '../outbound/resolver.ts'
import { UpstreamConnection } from './connection.ts'

/** A target's time limits, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
}

/** What the pools use; tests hand in their own. */
export interface UpstreamDeps {
  readonly clock: Clock
  readonly guard: AddressGuard
  readonly resolve: Resolve
  /** Opens TCP connections, also for TLS; only tests set it. */
  readonly connect?: ConnectTo
}

/** The connection pools of all upstreams. */
export interface Upstreams {
  open(where: Destination, connectMs: number): UpstreamOrigin
  connections(): { readonly open: number; readonly idle: number }
  [Symbol.asyncDispose](): Promise<void>
}

const sweepMs = 100
const idleMs = 4000
const connectionsPerOrigin = 4096

/** Creates the pools: each `open` adds one, and a single timer watches them all. */
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

  /** Watches a pool only while it has connections, so that a node without calls is never woken. */
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

  /** Monotonic time in milliseconds; about 100 ms old at most, because the sweep updates it. */
  get nowMs(): number {
    return this.#time.nowMs
  }

  get size(): number {
    return this.#all.size
  }

  get idle(): number {
    return this.#idle.length
  }

  /** Takes the most recently used idle connection; undefined if there is none. */
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
      if (!attach(socket, connection)) {
        connection.destroy()
        throw new OutboundError('invalid', 'the upstream spoke before it was asked')
      }
      this.#all.add(connection)
      return connection
    } finally {
      this.#connecting--
    }
  }

  /**
   * Closes connections whose request has timed out or that were idle too long; returns false when the pool needs no
   * more watching.
   */
  sweep(nowMs: number): boolean {
    for (const connection of this.#all) {
      if (nowMs >= connection.deadlineAt) connection.expire()
      else if (nowMs >= connection.expiresAt) connection.destroy()
    }
    return this.#all.size > 0 || this.#connecting > 0
  }

  /** Closes idle connections now, and each of the others after its response. */
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

// One buffer for all plain sockets: each read is copied or handled before the next can begin.
const shared = new SharedBuffer()

/** What receives each plain socket's bytes; TLS sockets are read as streams instead. */
const receivers = new WeakMap<Socket, Receiver>()

/** Passes a plain socket's reads to its connection, once there is one. */
class Receiver {
  connection: UpstreamConnection | undefined
  /** Whether bytes came before there was a connection. */
  spokeFirst = false

  read(buffer: SharedBuffer, count: number): boolean {
    if (this.connection !== undefined) return turnReads.add(this.connection, buffer, count)
    this.spokeFirst = true
    return true
  }
}

/** Opens a plain socket that reads into the shared buffer, the fastest way in node:net. */
function connectPlain(address: string, port: number): Socket {
  // Windows fills the buffer in the background, so each socket needs its own there.
  const buffer = process.platform === 'win32' ? new SharedBuffer() : shared
  const receiver = new Receiver()
  const socket = connectNet({
    host: address,
    port,
    noDelay: true,
    keepAlive: true,
    onread: {
      buffer: buffer.bytes,
      callback: (count) => receiver.read(buffer, count),
    },
  })
  receivers.set(socket, receiver)
  return socket
}

/** Directs a socket's reads to a connection; returns false if a plain socket received data before any request. */
function attach(socket: Socket, connection: UpstreamConnection): boolean {
  const receiver = receivers.get(socket)
  if (receiver === undefined) {
    socket.on('data', (bytes: Buffer) => connection.take(bytes))
    return true
  }
  receiver.connection = connection
  return !receiver.spokeFirst
}
