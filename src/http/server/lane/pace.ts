import type { Socket } from 'node:net'

/** The minimum pace of a body: this many bytes in each window. */
export interface PaceLimits {
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
}

/** Detects a caller that sends or reads too slowly on one connection. */
export class Pace {
  readonly #socket: Socket
  readonly #limits: PaceLimits
  #windowEndsAt = 0
  #windowBytes = 0
  #unread: { at: number; taken: number } | undefined
  #drainWindow: { at: number; bytesRead: number; taken: number } | undefined

  constructor(socket: Socket, limits: PaceLimits) {
    this.#socket = socket
    this.#limits = limits
  }

  /** Whether an awaited body arrives too slowly; called repeatedly, with the time of the monotonic clock. */
  isTooSlow(nowMs: number, awaitsBody: boolean): boolean {
    if (!awaitsBody) {
      this.#windowEndsAt = 0
      return false
    }
    if (this.#windowEndsAt !== 0 && nowMs < this.#windowEndsAt) return false
    const { bytesRead } = this.#socket
    const { bodyWindowMs, bodyWindowBytes } = this.#limits
    const slow = this.#windowEndsAt !== 0 && bytesRead - this.#windowBytes < bodyWindowBytes
    this.#windowEndsAt = nowMs + bodyWindowMs
    this.#windowBytes = bytesRead
    return slow
  }

  /** Whether the caller has read nothing for `unreadMs`, although data waits to be sent to it; called repeatedly. */
  isUnread(nowMs: number, unreadMs: number): boolean {
    if (this.#socket.writableLength === 0) {
      this.#unread = undefined
      return false
    }
    const taken = takenFrom(this.#socket)
    if (this.#unread?.taken !== taken) this.#unread = { at: nowMs, taken }
    return nowMs >= this.#unread.at + unreadMs
  }

  /**
   * Whether a caller delays draining: within `stallMs`, it neither sent enough of an awaited body nor read anything.
   */
  isStalled(nowMs: number, stallMs: number, awaitsBody: boolean): boolean {
    const { bytesRead, writableLength } = this.#socket
    const taken = takenFrom(this.#socket)
    const since = this.#drainWindow
    if (!awaitsBody && writableLength === 0) this.#drainWindow = undefined
    else if (since === undefined || nowMs >= since.at + stallMs) {
      this.#drainWindow = { at: nowMs, bytesRead, taken }
    }
    if (since === undefined || nowMs < since.at + stallMs) return false
    const pace = (this.#limits.bodyWindowBytes * stallMs) / this.#limits.bodyWindowMs
    const sends = awaitsBody && bytesRead - since.bytesRead >= pace
    const reads = writableLength > 0 && taken > since.taken
    return (awaitsBody || writableLength > 0) && !sends && !reads
  }
}

/**
 * Returns how many bytes the kernel has taken, according to the private handle of `node:net`. The public counters count
 * a buffer only as a whole, so a caller that reads a large buffer slowly would seem to read nothing.
 */
function takenFrom(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
  }
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize
}
