import type { Socket } from 'node:net'
import type { Pace } from './pace.ts'

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
  /**
   * Whether a refusal may be written as raw bytes now. It must not be written in the middle of a response, or before
   * the response to an earlier request.
   */
  readonly mayAnswerRaw: boolean
  /** Whether no response is owed: at most part of a head has arrived, or the last request has been answered. */
  readonly owesNothing: boolean
  /** Whether all responses have been sent, although a request body is still arriving. */
  readonly isAnswered: boolean
  /** Ends the connection once everything written has been sent; further requests on it are not processed. */
  endInOrder(): void
  /** Makes sure that no further requests are processed. */
  refuseFurther(): void
  /** Makes each response that begins from now on announce that the connection ends. */
  drain(): void
  destroy(): void
  /** Whether an exchange is in progress; a response that the caller has yet to read does not count. */
  readonly busy: boolean
  /** Whether we wait for more of a request's body. */
  readonly awaitsBody: boolean
  readonly pace: Pace
}

/**
 * Ends a connection once everything written has been sent, but waits up to `lingerMs` for the caller to end it too:
 * closing at once with unread bytes in the kernel would send a reset, which can destroy the response.
 */
export function endWithLinger(socket: Socket, lingerMs: number): void {
  if (socket.destroyed || socket.writableEnded) return
  socket.end(() => {
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
  })
  socket.once('end', () => socket.destroy())
}

/** Converts an IPv4-mapped IPv6 address to the IPv4 address; returns any other address unchanged. */
export function foldMapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
