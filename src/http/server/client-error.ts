import { Problem } from '../../errors.ts'
import { renderOwn, renderProblem, type OwnRefusals } from './problem.ts'

/**
 * A parser error with its code and the bytes that were being parsed, which are never logged because they may contain a
 * credential.
 */
export interface ParserError extends Error {
  readonly code?: string
  readonly reason?: string
  readonly rawPacket?: Buffer
}

/** The plain lane's parser error, with the codes of node:http. */
export class ParserFailure extends Error implements ParserError {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/**
 * Returns the refusal for a message that could not be parsed; undefined if the connection is broken, so that nobody can
 * receive one.
 */
export function parserProblem(error: ParserError, urlBytes: number): Problem | undefined {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined
    case 'HPE_HEADER_OVERFLOW':
      return isLongRequestLine(error.rawPacket, urlBytes)
        ? new Problem('uri_too_long', `The URL may have up to ${urlBytes} bytes.`)
        : new Problem('head_too_large')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('body_too_large', 'The chunk extensions are too long.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout')
    case 'HPE_INVALID_VERSION':
      // The parser also reports this code for a line that ends with a bare line feed.
      if (error.reason?.includes('CRLF') === true) return malformed()
      return new Problem('version_not_supported', 'Speak HTTP/1.1 or HTTP/1.0.')
    case 'HPE_INVALID_METHOD':
      return new Problem('bad_request', 'The request line does not begin with a known method.')
    case 'HPE_INVALID_TRANSFER_ENCODING':
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
    case 'HPE_INVALID_CONTENT_LENGTH':
    case 'HPE_INVALID_CHUNK_SIZE':
      return new Problem('framing_invalid')
    default:
      return malformed()
  }
}

function malformed(): Problem {
  return new Problem('bad_request', 'The message is not well-formed HTTP/1.1.')
}

/** Renders a refusal as the text (latin1) of a whole response, after which the connection ends. */
export function rawRefusal(
  problem: Problem,
  context: { requestId: string; baseUrl: string; nowMs: number; own: OwnRefusals | undefined },
): string {
  const { own } = context
  const rendered =
    own === undefined ? renderProblem(problem, context) : renderOwn(own, problem, context.requestId)
  const { status, headers, body } = rendered
  let text = `HTTP/1.1 ${status} ${reasons[status] ?? 'Refused'}\r\n`
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  return `${text}Date: ${new Date(context.nowMs).toUTCString()}\r\nConnection: close\r\n\r\n${body}`
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
  505: 'HTTP Version Not Supported',
}

/**
 * Returns the URL if the bytes being parsed begin with a request line; otherwise ''. Only the first 1024 bytes are
 * read, so a long URL is cut off.
 */
export function urlAtHand(packet: Buffer | undefined): string {
  const line = /^[A-Z]{3,8} (\/[^\s]*)/.exec(packet?.toString('latin1', 0, 1024) ?? '')
  return line?.[1] ?? ''
}

// Whether the URL is what made the head too long, so that 414 is correct: the packet begins with a request line longer
// than `urlBytes`.
function isLongRequestLine(packet: Buffer | undefined, urlBytes: number): boolean {
  if (packet === undefined || packet.length <= urlBytes) return false
  const lineEnd = packet.indexOf('\n')
  return (
    /^[A-Z]{3,8} \//.test(packet.toString('latin1', 0, 12)) &&
    (lineEnd === -1 || lineEnd > urlBytes)
  )
}
