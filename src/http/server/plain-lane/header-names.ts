/** The meaning of a header's name for the plain lane. */
export const nameKind = {
  ordinary: 0,
  /** Makes a request unusual, so that the standard lane takes it. */
  unusual: 1,
  connection: 2,
  contentLength: 3,
  /** Its value is kept beyond the call, so it must not be a slice of the whole head. */
  kept: 4,
} as const

export type NameKind = (typeof nameKind)[keyof typeof nameKind]

const slots = 2048
const maxNames = 1024
const maxBytes = 64

/**
 * Looks header names up by their bytes: a known name needs no new string and no lower-casing. The table is bounded,
 * because callers choose names, and never refers to a head, which contains a credential.
 */
export class HeaderNames {
  readonly #names: (string | undefined)[] = Array.from({ length: slots })
  readonly #kinds = new Uint8Array(slots)
  #count = 0
  /** The meaning of the name that was looked up last. */
  kind: NameKind = nameKind.ordinary

  constructor() {
    for (const name of usual) {
      const bytes = Buffer.from(name, 'latin1')
      this.find(bytes, 0, bytes.length)
    }
  }

  /** The name between two offsets. */
  find(bytes: Buffer, start: number, end: number): string {
    const length = end - start
    let hash = length
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
    let slot = (hash ^ (hash >>> 15)) & (slots - 1)
    for (;;) {
      const name = this.#names[slot]
      if (name === undefined) return this.#add(slot, bytes.toString('latin1', start, end))
      if (name.length === length && isSame(name, bytes, start)) {
        this.kind = this.#kinds[slot] as NameKind
        return name
      }
      slot = (slot + 1) & (slots - 1)
    }
  }

  #add(slot: number, name: string): string {
    this.kind = kindOf(name.toLowerCase())
    if (this.#count < maxNames && name.length <= maxBytes) {
      this.#count++
      this.#names[slot] = name
      this.#kinds[slot] = this.kind
    }
    return name
  }
}

function isSame(name: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < name.length; at++) {
    if (name.charCodeAt(at) !== bytes[start + at]) return false
  }
  return true
}

/** Names about framing, other protocols or the connection; rare ones are left to node:http. */
function kindOf(lower: string): NameKind {
  switch (lower) {
    case 'transfer-encoding':
    case 'te':
    case 'trailer':
    case 'upgrade':
    case 'expect':
    case 'proxy-connection':
    case 'http2-settings':
      return nameKind.unusual
    case 'connection':
      return nameKind.connection
    case 'content-length':
      return nameKind.contentLength
    case 'user-agent':
    case 'x-forwarded-for':
      return nameKind.kept
    default:
      return nameKind.ordinary
  }
}

const usual = [
  'Host',
  'host',
  'X-API-Key',
  'x-api-key',
  'Authorization',
  'authorization',
  'Connection',
  'connection',
  'Content-Length',
  'content-length',
  'Content-Type',
  'content-type',
  'User-Agent',
  'user-agent',
  'Accept',
  'accept',
  'Accept-Encoding',
  'accept-encoding',
  'Accept-Language',
  'accept-language',
  'X-Forwarded-For',
  'x-forwarded-for',
  'X-Forwarded-Proto',
  'x-forwarded-proto',
  'X-Forwarded-Host',
  'x-forwarded-host',
  'traceparent',
  'Cookie',
  'cookie',
]
