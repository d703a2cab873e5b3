import type { KeyPrincipal } from '../access/index.ts'
import type { RelayedLines } from '../http/index.ts'
import type { Call } from './call.ts'

/** Tells a proxy that the request is allowed, with the headers that the proxy should pass on to the upstream. */
export function answerAllowed(
  call: Call,
  { slug, assertion }: { slug: string | undefined; assertion: string | undefined },
): void {
  const { principal, exchange } = call
  call.status = 200
  if (assertion === undefined && exchange.takesLines) {
    exchange.relayLines(linesOf(principal, slug), call.ownHeaders)
    return
  }
  const signed = assertion === undefined ? [] : ['Intercept-Assertion', assertion]
  exchange.answer(200, [...headersOf(principal, slug), ...signed, ...call.ownHeaders])
}

function headersOf(principal: KeyPrincipal, slug: string | undefined): string[] {
  return [
    'Content-Length',
    '0',
    'Cache-Control',
    'no-store',
    'Intercept-Organization',
    principal.organizationSlug,
    'Intercept-Organization-Id',
    principal.organizationId,
    'Intercept-Key-Id',
    principal.keyId,
    ...(slug === undefined ? [] : ['Intercept-Target', slug]),
  ]
}

// Proxies mostly ask about the same key and target again, so only the lines for a key's latest target are kept.
const latestLines = new WeakMap<KeyPrincipal, AllowedLines>()

function linesOf(principal: KeyPrincipal, slug: string | undefined): AllowedLines {
  let lines = latestLines.get(principal)
  if (lines === undefined || lines.slug !== slug) {
    lines = new AllowedLines(slug, headersOf(principal, slug))
    latestLines.set(principal, lines)
  }
  return lines
}

/** The part of an answer that is the same for all allowed requests with one key to one target. */
class AllowedLines implements RelayedLines {
  readonly slug: string | undefined
  readonly hasDate = false
  readonly bodyBytes = 0
  readonly #bytes: Buffer

  constructor(slug: string | undefined, headers: readonly string[]) {
    this.slug = slug
    let text = 'HTTP/1.1 200 OK\r\n'
    for (let at = 0; at + 1 < headers.length; at += 2)
      text += `${headers[at]}: ${headers[at + 1]}\r\n`
    this.#bytes = Buffer.from(text, 'latin1')
  }

  get lineBytes(): number {
    return this.#bytes.length
  }

  copyLines(to: Buffer, at: number): number {
    return at + this.#bytes.copy(to, at)
  }

  copyBody(): void {}
}
