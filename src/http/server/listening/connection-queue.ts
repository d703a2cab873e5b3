import type { Socket } from 'node:net'

/** A taker that has not received a connection for this many milliseconds is given no more until it has. */
const lateAfterMs = 100
/** How many connections may wait to be given; further ones are closed. */
const maxQueued = 4096

/** A connection to be sent to another process. */
export interface SentConnection {
  readonly socket: Socket
  /** Connections for one process are numbered from 1 on. */
  readonly number: number
}

/**
 * Sends a connection to another process, after those before it have arrived there. `sent` is called when it has been
 * sent, with an error if it could not be; it may never be called if that process ends first.
 */
export type SendConnection = (
  connection: SentConnection,
  sent: (error: Error | null) => void,
) => void

/** What a process says about its connections. */
export interface TakerReport {
  readonly open: number
  /** The number of the connection that it received last; those before it have arrived or are lost. */
  readonly last: number
}

/** Private property of a socket: its handle, which is gone as soon as the socket is sent. */
interface Handled {
  readonly _handle: { close(): void } | null
}

/** A process that takes connections, as the process that accepts them sees it. */
export class ConnectionTaker {
  readonly #queue: ConnectionQueue
  readonly #send: SendConnection
  #given = 0
  #reported: TakerReport = { open: 0, last: 0 }
  /** The connection that is to be sent when the one before has arrived. */
  #next: { readonly socket: Socket; readonly sinceMs: number } | undefined
  /** The handle of the connection that was sent last, which may not have arrived. */
  #lastSent: Handled['_handle'] = null

  constructor(queue: ConnectionQueue, send: SendConnection) {
    this.#queue = queue
    this.#send = send
  }

  /** How many of the connections that it was given are open, as far as it has reported. */
  get open(): number {
    return this.#reported.open + this.#given - this.#reported.last
  }

  /** Whether a connection can be sent to it; at most two are on their way. */
  get isReady(): boolean {
    return this.#next === undefined
  }

  /** In how many milliseconds it will be late unless it receives a connection; 0 if it is late. */
  lateInMs(nowMs: number): number {
    if (this.#next === undefined) return lateAfterMs
    return Math.max(0, this.#next.sinceMs + lateAfterMs - nowMs)
  }

  give(socket: Socket, nowMs: number): void {
    const { _handle: handle } = socket as unknown as Handled
    this.#given++
    this.#next = { socket, sinceMs: nowMs }
    // With a server, Node would also count the open connections of each process, and ask for them when the server closes.
    Object.assign(socket, { server: null })
    this.#send({ socket, number: this.#given }, (error) => {
      // Not so if the process has ended meanwhile: then, the connection was given to another one.
      if (this.#next?.socket !== socket) return
      if (error !== null) {
        this.abandon()
        return
      }
      this.#next = undefined
      this.#lastSent = handle
      this.#queue.giveAll()
    })
  }

  report(report: TakerReport): void {
    this.#reported = report
    this.#queue.giveAll()
  }

  /** Gives it no more connections; those on their way still arrive. */
  leave(): void {
    this.#queue.remove(this)
  }

  /**
   * To be called when the process has ended: the connection that was to be sent to it is given to another one. The one
   * that was sent last is closed, because Node does not close it if the process ended before it confirmed it.
   */
  abandon(): void {
    this.#lastSent?.close()
    this.#queue.remove(this, this.#next?.socket)
    this.#next = undefined
  }
}

/** Gives connections to the takers with the fewest open ones, in the order in which they were accepted. */
export class ConnectionQueue {
  readonly #monotonic: () => number
  readonly #dropped: () => void
  readonly #takers = new Set<ConnectionTaker>()
  readonly #waiting: Socket[] = []
  #timer: NodeJS.Timeout | undefined
  #emptied: (() => void) | undefined

  /** `dropped` is called for each connection that had to be closed because no taker could have it. */
  constructor(monotonic: () => number, dropped: () => void) {
    this.#monotonic = monotonic
    this.#dropped = dropped
  }

  add(send: SendConnection): ConnectionTaker {
    const taker = new ConnectionTaker(this, send)
    this.#takers.add(taker)
    this.giveAll()
    return taker
  }

  /** Removes a taker; a connection that was to be sent to it comes first again. */
  remove(taker: ConnectionTaker, unsent?: Socket): void {
    this.#takers.delete(taker)
    if (unsent !== undefined) this.#waiting.unshift(unsent)
    this.giveAll()
  }

  push(socket: Socket): void {
    if (this.#waiting.length >= maxQueued) this.#drop(socket)
    else this.#waiting.push(socket)
    this.giveAll()
  }

  /** Gives as many connections as can be given now; the first one may wait for the taker that should have it. */
  giveAll(): void {
    clearTimeout(this.#timer)
    for (let socket = this.#waiting[0]; socket !== undefined; socket = this.#waiting[0]) {
      const nowMs = this.#monotonic()
      const taker = choose(this.#takers, nowMs)
      if (taker?.isReady === false) {
        this.#awaitLate(taker.lateInMs(nowMs))
        return
      }
      this.#waiting.shift()
      if (taker === undefined) this.#drop(socket)
      else this.#give(socket, taker)
    }
    this.#emptied?.()
  }

  /** Resolves when no connection waits any more, or after this many milliseconds. */
  async untilEmpty(withinMs: number): Promise<void> {
    if (this.#waiting.length === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#emptied = resolve
    const limit = setTimeout(resolve, withinMs)
    await promise
    clearTimeout(limit)
  }

  #give(socket: Socket, taker: ConnectionTaker): void {
    // Of takers with equally few, the one that has waited longest for a connection comes first.
    this.#takers.delete(taker)
    this.#takers.add(taker)
    taker.give(socket, this.#monotonic())
  }

  /** Looks again when the taker that should have the first connection is late; a late one calls when it is ready. */
  #awaitLate(ms: number): void {
    if (ms > 0) this.#timer = setTimeout(() => this.giveAll(), ms)
  }

  #drop(socket: Socket): void {
    socket.destroy()
    this.#dropped()
  }
}

type Load = Pick<ConnectionTaker, 'open' | 'lateInMs'>

/**
 * Returns the taker that is to have the next connection: the one with the fewest open connections, and the first of
 * several; a late one only if all are. Returns undefined if there is none.
 */
export function choose<T extends Load>(takers: Iterable<T>, nowMs: number): T | undefined {
  let best: { readonly taker: T; readonly isLate: boolean } | undefined
  for (const taker of takers) {
    const isLate = taker.lateInMs(nowMs) === 0
    const isBetter =
      best === undefined || (isLate === best.isLate ? taker.open < best.taker.open : best.isLate)
    if (isBetter) best = { taker, isLate }
  }
  return best?.taker
}
