import type { Socket } from 'node:net'
import type { RequestHead } from '../../message/head.ts'
import type { Carrier } from '../lane/carrier.ts'
import type { FrontConnection } from '../lane/front-connection.ts'
import type { PlainRequest, RequestParser } from './request-parser.ts'

/** What a connection allows; sizes in bytes, times in milliseconds. */
export interface PlainLimits {
  readonly headMs: number
  readonly keepAliveMs: number
  readonly lingerMs: number
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
}

/** What a connection of the plain lane asks of the front. */
export interface PlainDeps {
  readonly parser: RequestParser
  readonly limits: PlainLimits
  readonly keepAliveSeconds: number
  readonly date: () => string
  readonly monotonic: () => number
  /** The singular headers of a request that is in order; undefined when the standard lane has to judge it. */
  accept(request: PlainRequest): RequestHead | undefined
  /** Takes a request that was accepted. */
  take(request: PlainRequest, head: RequestHead, connection: LaneConnection): void
  /** Gives the socket to the standard lane with the bytes that are not consumed. */
  handOver(connection: LaneConnection, bytes: Buffer): void
  /** Answers what cannot be read as far as that is possible, and ends the connection. */
  fail(connection: LaneConnection, code: FailureCode): void
  closed(connection: LaneConnection): void
}

/** Why bytes are no valid request: the codes of node:http's parser. */
export type FailureCode =
  | 'HPE_INVALID_EOF_STATE'
  | 'HPE_CLOSED_CONNECTION'
  | 'ERR_HTTP_REQUEST_TIMEOUT'

/** A connection of the plain lane, as those see it who are handed one. */
export interface LaneConnection extends Carrier, FrontConnection {
  /** Ends a connection that waited too long for a request. */
  endIfLate(nowMs: number): void
  /** Ends a connection on which nothing is under way. */
  endIfIdle(): void
  /** Leaves the socket to somebody else. */
  detach(): Socket
}
