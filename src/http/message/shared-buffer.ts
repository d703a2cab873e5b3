const maxRememberedViews = 4096

/** A buffer that serves the reads of many sockets, or the writes to them, one after the other. */
export class SharedBuffer {
  readonly bytes = Buffer.allocUnsafeSlow(64 * 1024)
  /**
   * Views by length, kept because the same lengths recur and creating a view costs as much as reading a short head.
   */
  readonly #views: (Buffer | undefined)[] = Array.from({ length: maxRememberedViews })

  /** Returns the buffer's first bytes, which are valid until the buffer is used again. */
  view(count: number): Buffer {
    if (count >= maxRememberedViews) return this.bytes.subarray(0, count)
    return (this.#views[count] ??= this.bytes.subarray(0, count))
  }
}
