import type { Socket } from 'node:net'

/** A connection's view of an exchange in progress. */
export interface OpenExchange {
  readonly started: boolean
  readonly finished: boolean
  readonly awaitsBody: boolean
  readonly requestComplete: boolean
  readonly watcher: { callerLeft(): void } | undefined
  refuse(error: unknown): void
  leave(): void
}

/** A caller's connection as seen by the listener, on either lane. */
export interface FrontConnection {
  readonly socket: Socket
  /** The exchange in progress; undefined if there is none or more than one. */
  readonly soleExchange: OpenExchange | undefined
  /** Whether a refusal may be written as raw bytes: neither in the middle of a response nor ahead of an earlier one. */
  readonly mayAnswerRaw: boolean
  /** Whether no response is owed: at most part of a head has arrived, or the last request has been answered. */
  readonly owesNothing: boolean
  /** Whether all responses have been sent, although a request body is still arriving. */
  readonly isAnswered: boolean
  /** Ends the connection after everything written has reached the caller. */
  endInOrder(): void
  /** Makes sure that no further requests are processed. */
  refuseFurther(): void
  /** Makes each response announce that the connection ends. */
  drain(): void
  destroy(): void
  /** Whether an awaited body arrives too slowly; called repeatedly with the monotonic clock. */
  isBodyTooSlow(nowMs: number): boolean
  /** Whether a caller delays draining by sending or reading too slowly. */
  isStalled(nowMs: number, stallMs: number): boolean
}

/**
 * Ends a connection, but waits up to `lingerMs` for the caller to end it too: closing at once with unread bytes in the
 * kernel would send a reset, which can destroy the response.
 */
export function endWithLinger(socket: Socket, lingerMs: number): void {
  if (socket.destroyed) return
  socket.end()
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('end', () => socket.destroy())
  socket.once('close', () => clearTimeout(linger))
}

/** Converts an IPv4-mapped IPv6 address to the IPv4 address. */
export function foldMapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
