import type { Socket } from 'node:net'

/** What a connection knows of an exchange that is under way on it. */
export interface OpenExchange {
  readonly started: boolean
  readonly finished: boolean
  readonly awaitsBody: boolean
  readonly requestComplete: boolean
  readonly watcher: { callerLeft(): void } | undefined
  refuse(error: unknown): void
  leave(): void
}

/** A caller's connection as the front watches it, whatever the lane. */
export interface FrontConnection {
  readonly socket: Socket
  /** The only exchange under way. */
  readonly soleExchange: OpenExchange | undefined
  /** Whether a refusal may be written as raw bytes: not into a response, and not where an earlier one is awaited. */
  readonly mayAnswerRaw: boolean
  /** Whether no request is under way: nothing came, half a head, or the rest of an answered body. */
  readonly owesNothing: boolean
  /** Whether nothing is owed to the caller any more, though a body is still arriving. */
  readonly isAnswered: boolean
  /** Ends it in order: what was written reaches the caller. */
  endInOrder(): void
  /** Executes nothing more that arrives here. */
  refuseFurther(): void
  /** Lets each response say that the connection ends with it. */
  drain(): void
  destroy(): void
  /** Judges a body that comes too slowly; called from time to time with the monotonic clock. */
  isBodyTooSlow(nowMs: number): boolean
  /** Judges while draining whether the caller keeps a request from ending. */
  isStalled(nowMs: number, stallMs: number): boolean
}

/** Ends a connection whose caller may still be sending: with unread bytes in the kernel the response would be reset away. */
export function endWithLinger(socket: Socket, lingerMs: number): void {
  if (socket.destroyed) return
  socket.end()
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('end', () => socket.destroy())
  socket.once('close', () => clearTimeout(linger))
}

/** An IPv4 address in IPv6's clothing is that IPv4 address. */
export function foldMapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
