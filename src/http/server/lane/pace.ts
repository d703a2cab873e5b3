import type { Socket } from 'node:net'

/** How fast a body must arrive: this many bytes in each window. */
export interface PaceLimits {
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
}

/** Judges whether the caller of one connection sends or reads too slowly. */
export class Pace {
  readonly #socket: Socket
  readonly #limits: PaceLimits
  #windowEndsAt = 0
  #windowBytes = 0
  #drainWindow: { at: number; bytesRead: number; taken: number } | undefined

  constructor(socket: Socket, limits: PaceLimits) {
    this.#socket = socket
    this.#limits = limits
  }

  /** Judges a body that is awaited; to be asked from time to time with the monotonic clock. */
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

  /** Judges while draining whether the caller keeps a request from ending: it sends below the pace, or reads nothing. */
  isStalled(nowMs: number, stallMs: number, awaitsBody: boolean): boolean {
    const { bytesRead, bytesWritten, writableLength } = this.#socket
    const taken = bytesWritten - writableLength
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
