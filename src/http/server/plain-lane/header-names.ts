import { HeaderNames } from '../../message/header-names.ts'

/** The meanings of header names for the plain lane. */
export const nameKind = {
  ordinary: 0,
  /** A request with such a header is left to the standard lane. */
  unusual: 1,
  connection: 2,
  contentLength: 3,
  /** Its value is kept after the request, so it must not be a slice of the whole head. */
  kept: 4,
} as const

export type NameKind = (typeof nameKind)[keyof typeof nameKind]

/** Creates the look-up of request header names for the plain lane. */
export function requestNames(): HeaderNames<NameKind> {
  return new HeaderNames(usual, kindOf)
}

/** Requests with a rare header for framing, the connection or another protocol are left to node:http. */
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
