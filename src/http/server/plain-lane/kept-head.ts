import { hasBody, type KeptParts, type PlainFields, type PlainRequest } from './request-parser.ts'

/** Header lines that take more than this many bytes together are not kept, and neither is a URL that does. */
const maxBytes = 1024
/**
 * How many times a connection may keep new lines; after that, the lines kept last stay until the connection has been
 * idle.
 */
const maxChanges = 8
const keptMs = 2000

/**
 * The header lines and the URL of a connection's requests. Programs usually repeat the same lines in each request, and
 * many of them the URL too; the parser then recognizes these by their bytes and does not parse them again.
 */
export class KeptHead implements KeptParts {
  // Programs send different lines with and without a body, and often both kinds of requests on one connection.
  withoutBody: PlainFields | undefined
  withBody: PlainFields | undefined
  url = ''
  #changes = 0
  #isFirst = true

  /**
   * Keeps the URL and the header lines of a request; lines only if they are not kept already and have not changed too
   * often. Nothing of the first request is kept, because it may be the only request on the connection.
   */
  keep(bytes: Buffer, { method, url, fields, fieldsAt, bodyAt }: PlainRequest): void {
    if (this.#isFirst) {
      this.#isFirst = false
      return
    }
    this.url = url.length <= maxBytes ? url : ''
    const length = bodyAt - fieldsAt
    if (fields === this.withoutBody || fields === this.withBody) return
    if (length > maxBytes || this.#changes === maxChanges) return
    this.#changes++
    fields.bytes = Buffer.allocUnsafeSlow(length)
    bytes.copy(fields.bytes, 0, fieldsAt, bodyAt)
    if (hasBody(method)) this.withBody = fields
    else this.withoutBody = fields
  }

  /**
   * Forgets all of it if the connection has been idle for more than 2 s, because an idle connection should use little
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
    this.withoutBody = undefined
    this.withBody = undefined
    this.url = ''
    this.#changes = 0
  }
}
