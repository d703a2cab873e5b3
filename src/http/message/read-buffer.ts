const maxRememberedViews = 4096

/** A buffer that many sockets read into; each read is processed before the next can begin. */
export class ReadBuffer {
  readonly bytes = Buffer.allocUnsafeSlow(64 * 1024)
  /**
   * Views by length, kept because reads of the same size recur and creating a view costs as much as reading a short
   * head.
   */
  readonly #views: (Buffer | undefined)[] = Array.from({ length: maxRememberedViews })

  /** Returns the bytes of one read; they are valid until the next read. */
  view(count: number): Buffer {
    if (count >= maxRememberedViews) return this.bytes.subarray(0, count)
    return (this.#views[count] ??= this.bytes.subarray(0, count))
  }
}
