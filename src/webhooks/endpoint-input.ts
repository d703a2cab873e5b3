import { Problem } from '../errors.ts'
import type { Outbound } from '../http/index.ts'
import { foldHeaderName } from '../http/message/index.ts'
import { findEventType } from './events/catalogue.ts'

const maxDescriptionLength = 200
const maxHeaders = 20
const maxHeaderBytes = 4096
const maxRate = 1000
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/
// RFC 9110, section 5.5: visible ASCII with inner spaces and tabs, and nothing that could end the line.
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/
const ownHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** The fields of an endpoint that people choose; an omitted one stays unchanged or takes its default. */
export interface EndpointInput {
  readonly url?: string | undefined
  readonly description?: string | undefined
  /** null means every type. */
  readonly types?: readonly string[] | null | undefined
  /** Sent with every delivery; replaces the previous headers. If omitted, a new URL at another origin removes them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** null means no limit. */
  readonly ratePerSecond?: number | null | undefined
  /** Whether deliveries are sent one at a time in event order; a delivery that fails delays all later deliveries. */
  readonly ordered?: boolean | undefined
  /** Whether deliveries also carry an Ed25519 signature (`v1a`). */
  readonly asymmetric?: boolean | undefined
}

/** Validates an input; throws `invalid_input` or `outbound_blocked`. */
export function checkInput(input: EndpointInput, outbound: Outbound): void {
  if (input.url !== undefined) outbound.checkUrl(input.url)
  if (input.description !== undefined && input.description.length > maxDescriptionLength) {
    throw new Problem(
      'invalid_input',
      `A description has up to ${maxDescriptionLength} characters.`,
    )
  }
  for (const type of input.types ?? []) {
    if (!findEventType(type)) {
      throw new Problem('invalid_input', `There is no event type ${type.slice(0, 60)}.`)
    }
  }
  if (input.types?.length === 0) {
    throw new Problem('invalid_input', 'Choose at least one event type, or all of them.')
  }
  const rate = input.ratePerSecond ?? undefined
  if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= maxRate)) {
    throw new Problem('invalid_input', `A rate is 1 to ${maxRate} deliveries a second.`)
  }
  if (input.headers) checkHeaders(input.headers)
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers)
  if (entries.length > maxHeaders) {
    throw new Problem('invalid_input', `Up to ${maxHeaders} headers can be added.`)
  }
  const seen = new Set<string>()
  let bytes = 0
  for (const [name, value] of entries) {
    const lower = name.toLowerCase()
    if (!headerName.test(name) || seen.has(lower)) {
      throw new Problem('invalid_input', 'A header has a name of letters, digits and dashes, once.')
    }
    // A receiver that normalizes header names could mistake an alias of one of our headers for the header itself.
    const folded = foldHeaderName(name)
    if (ownHeaders.has(folded) || /^(webhook|intercept|sec|proxy)-/.test(folded)) {
      throw new Problem('invalid_input', `The header ${lower} is ours to set.`)
    }
    if (!headerValue.test(value)) {
      throw new Problem('invalid_input', `The header ${lower} has an impossible value.`)
    }
    seen.add(lower)
    bytes += name.length + value.length
  }
  if (bytes > maxHeaderBytes) {
    throw new Problem('invalid_input', `Headers have up to ${maxHeaderBytes} characters in all.`)
  }
}
