import type { ForwardTap } from '../http/index.ts'
import type { CaptureSettings } from '../targets/index.ts'
import { redactBody } from './redaction.ts'

/** Captures what the target's capture setting allows of one call. */
export interface Capture extends ForwardTap {
  /** The captured data as JSON. */
  text(): string
}

export function createCapture(
  requestHeaders: readonly string[],
  settings: CaptureSettings | undefined,
): Capture | undefined {
  if (settings === undefined) return undefined
  const requestBody = new KeptBody(settings)
  const answerBody = new KeptBody(settings)
  let answerHeaders: Record<string, string> = {}
  if (isEncoded(requestHeaders)) requestBody.keepNothing()
  return {
    request: (chunk) => requestBody.add(chunk),
    answer: (headers) => {
      answerHeaders = keptHeaders(headers, settings)
      if (isEncoded(headers)) answerBody.keepNothing()
    },
    body: (chunk) =>
      answerBody.add(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk),
    text: () =>
      JSON.stringify({
        request: {
          headers: keptHeaders(requestHeaders, settings),
          body: requestBody.text(),
          bytes: requestBody.bytes,
        },
        answer: { headers: answerHeaders, body: answerBody.text(), bytes: answerBody.bytes },
        ...(settings.redact.length === 0 ? {} : { redacted: settings.redact }),
      }),
  }
}

/** Keeps the first bytes of a body and counts all of them. */
class KeptBody {
  bytes = 0
  readonly #redact: readonly string[]
  #room: number
  #kept = Buffer.alloc(0)

  constructor(settings: CaptureSettings) {
    this.#redact = settings.redact
    this.#room = settings.bodyBytes
  }

  /** From now on, bytes are only counted, not kept. */
  keepNothing(): void {
    this.#room = 0
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length
    const room = this.#room - this.#kept.length
    if (room > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, room)])
  }

  text(): string | undefined {
    if (this.#kept.length === 0) return undefined
    // Control characters are replaced, because PostgreSQL refuses NUL in text.
    const text = decoded(this.#kept).replaceAll(
      /[\0\u0001-\u0008\u000b\u000c\u000e-\u001f]/g,
      '\ufffd',
    )
    return redactBody(text, this.#redact)
  }
}

function keptHeaders(
  headers: readonly string[],
  settings: CaptureSettings,
): Record<string, string> {
  const kept = new Map<string, string>()
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase() ?? ''
    if (!settings.headers.includes(name)) continue
    const before = kept.get(name)
    const value = headers[at + 1] ?? ''
    const joined = before === undefined ? value : `${before}, ${value}`
    kept.set(name, joined.slice(0, maxValueLength))
  }
  return Object.fromEntries([...kept].map(([name, value]) => [name, redactBody(value, [])]))
}

/**
 * Recognizes UTF-16 by its first two bytes, similarly to RFC 4627, section 3: read as UTF-8, such a body would hide the
 * names whose values must be masked.
 */
function decoded(bytes: Buffer): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (isPrintable(first) && second === 0)) {
    return new TextDecoder('utf-16le').decode(bytes)
  }
  if ((first === 0xfe && second === 0xff) || (first === 0 && isPrintable(second))) {
    return new TextDecoder('utf-16be').decode(bytes)
  }
  return bytes.toString('utf8')
}

function isPrintable(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return byte === 0x09 || byte === 0x0a || byte === 0x0d || (byte >= 0x20 && byte < 0x7f)
}

/** Whether a body is compressed, in which case nothing in it can be masked. */
function isEncoded(headers: readonly string[]): boolean {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() !== 'content-encoding') continue
    if (headers[at + 1]?.trim().toLowerCase() !== 'identity') return true
  }
  return false
}

const maxValueLength = 1024
