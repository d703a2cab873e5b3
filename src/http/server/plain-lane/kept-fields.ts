import type { PlainFields, PlainRequest } from './request-parser.ts'

/** Header lines that take more than this many bytes together are not kept. */
const maxBytes = 1024
/**
 * How many times a connection may keep new lines; after that, the lines kept last stay until the connection has been
 * idle.
 */
const maxChanges = 8
const keptMs = 2000

/**
 * The header lines of a connection's requests. Programs usually repeat the same lines in each request; the parser then
 * recognizes them by their bytes and does not parse them again.
 */
export class KeptFields {
  /** The lines to compare with those of the next request; undefined if none are kept. */
  fields: PlainFields | undefined
  #changes = 0
  #isFirst = true

  /**
   * Keeps the header lines of a request, unless they are kept already, are too long, or have changed too often. The
   * first request's lines are not kept, because it may be the only request on the connection.
   */
  keep(bytes: Buffer, { fields, fieldsAt, bodyAt }: PlainRequest): void {
    if (this.#isFirst) {
      this.#isFirst = false
      return
    }
    const length = bodyAt - fieldsAt
    if (fields === this.fields || length > maxBytes || this.#changes === maxChanges) return
    this.#changes++
    fields.bytes = Buffer.allocUnsafeSlow(length)
    bytes.copy(fields.bytes, 0, fieldsAt, bodyAt)
    this.fields = fields
  }

  /**
   * Forgets the lines if the connection has been idle for more than 2 s, because an idle connection should use little
   * memory.
   */
  idleFor(ms: number): void {
    if (ms > keptMs) this.forget()
  }

  /**
   * Also called when the connection hands over its socket, because the socket keeps the connection in memory until it
   * closes.
   */
  forget(): void {
    this.fields = undefined
    this.#changes = 0
  }
}
