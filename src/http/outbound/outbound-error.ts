/**
 * How an outgoing call failed. `aborted` means that the caller gave up; `timeout` means that the deadline passed or
 * connecting took too long.
 */
export type OutboundFailure =
  | 'blocked'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'invalid'
  | 'aborted'

/**
 * Thrown when an outgoing call got no complete response; the message contains no secret and no bytes of the response.
 */
export class OutboundError extends Error {
  readonly kind: OutboundFailure

  constructor(kind: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutboundError'
    this.kind = kind
  }
}

/** Converts any error of a connection or HTTP client to an OutboundError. */
export function asOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const cause = (error as { cause?: unknown } | undefined)?.cause
  if (cause instanceof OutboundError) return cause
  const found = (error as { code?: unknown } | undefined)?.code
  const code = typeof found === 'string' ? found : ''
  return new OutboundError(kindOf(code), sentenceOf(code), error)
}

const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'EINVAL',
])

function kindOf(code: string): OutboundFailure {
  if (connectCodes.has(code)) return 'connect'
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA') return 'dns'
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) return 'tls'
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return 'invalid'
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return 'invalid'
  }
  return 'reset'
}

function sentenceOf(code: string): string {
  switch (kindOf(code)) {
    case 'connect':
      return `the connection was refused (${code})`
    case 'timeout':
      return 'connecting took too long'
    case 'dns':
      return `the host name could not be resolved (${code})`
    case 'tls':
      return `the TLS connection could not be made (${code})`
    case 'invalid':
      return `the answer was no valid HTTP (${code})`
    default:
      return `the connection broke before the answer was complete${code === '' ? '' : ` (${code})`}`
  }
}
