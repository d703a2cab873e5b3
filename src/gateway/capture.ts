import type { ForwardTap } from '../http/index.ts'
import type { CaptureSettings } from '../targets/index.ts'

/** Keeps of one call what the target's capture setting allows, and nothing else. */
export interface Capture extends ForwardTap {
  /** What was kept, as JSON. */
  text(): string
}

/** Begins to keep; undefined for targets that keep nothing, which is nearly all. */
export function createCapture(
  requestHeaders: readonly string[],
  settings: CaptureSettings | undefined,
): Capture | undefined {
  if (settings === undefined) return undefined
  const requestBody = new KeptBody(settings)
  const answerBody = new KeptBody(settings)
  let answerHeaders: Record<string, string> = {}
  return {
    request: (chunk) => requestBody.add(chunk),
    answer: (headers) => {
      answerHeaders = keptHeaders(headers, settings)
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

/** The first bytes of a body, blacked out where the setting says so. */
class KeptBody {
  bytes = 0
  readonly #settings: CaptureSettings
  #kept = Buffer.alloc(0)

  constructor(settings: CaptureSettings) {
    this.#settings = settings
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length
    const room = this.#settings.bodyBytes - this.#kept.length
    if (room > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, room)])
  }

  text(): string | undefined {
    if (this.#kept.length === 0) return undefined
    // Control characters and broken UTF-8 don't belong in a column of text.
    const text = this.#kept
      .toString('utf8')
      .replaceAll(/[\0\u0001-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd')
    return redacted(text, this.#settings.redact)
  }
}

function keptHeaders(
  headers: readonly string[],
  settings: CaptureSettings,
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase() ?? ''
    if (!settings.headers.includes(name) || name === '__proto__') continue
    const value = (headers[at + 1] ?? '').slice(0, longestValue)
    kept[name] = kept[name] === undefined ? value : `${kept[name]}, ${value}`
  }
  return kept
}

const longestValue = 1024

/** Values of the named JSON members and form fields blacked out, also where the end of the text cuts one off. */
function redacted(text: string, names: readonly string[]): string {
  let result = text
  for (const name of names) {
    const escaped = name.replaceAll('.', '\\.')
    result = result
      .replaceAll(
        new RegExp(`("${escaped}"\\s{0,8}:\\s{0,8})("(?:[^"\\\\]|\\\\.)*"?|[^\\s,}\\]]+)`, 'gi'),
        '$1"…"',
      )
      .replaceAll(new RegExp(`((?:^|&)${escaped}=)[^&\\s]*`, 'gi'), '$1…')
  }
  return result
}
