import type { Socket } from 'node:net'
import type { RequestHead } from '../../message/head.ts'
import type { Carrier } from '../lane/carrier.ts'
import type { FrontConnection } from '../lane/front-connection.ts'
import type { PlainRequest, RequestParser } from './request-parser.ts'
import type { ResponseEndings } from './response-head.ts'

/** The limits of a connection; sizes in bytes, times in milliseconds. */
export interface PlainLimits {
  readonly headMs: number
  readonly keepAliveMs: number
  readonly lingerMs: number
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
}

/** What the listener provides to its plain-lane connections. */
export interface PlainDeps {
  readonly parser: RequestParser
  readonly limits: PlainLimits
  readonly endings: ResponseEndings
  readonly monotonic: () => number
  /** Returns the head of a request with valid framing; undefined if the standard lane must decide. */
  accept(request: PlainRequest): RequestHead | undefined
  take(request: PlainRequest, head: RequestHead, connection: LaneConnection): void
  /** Hands the socket to the standard lane, with the bytes not yet consumed. */
  handOver(connection: LaneConnection, bytes: Buffer): void
  /**
   * Refuses a request that is incomplete or late, or that follows one with `Connection: close`, if a response is still
   * possible. Ends the connection in any case.
   */
  fail(connection: LaneConnection, code: FailureCode): void
  closed(connection: LaneConnection): void
}

/** Why a request is refused; an error code of node:http. */
export type FailureCode =
  | 'HPE_INVALID_EOF_STATE'
  | 'HPE_CLOSED_CONNECTION'
  | 'ERR_HTTP_REQUEST_TIMEOUT'

/** A plain-lane connection as the listener uses it. */
export interface LaneConnection extends Carrier, FrontConnection {
  /** Ends the connection if it has waited too long for a request, with a refusal unless it was merely kept alive. */
  endIfLate(nowMs: number): void
  /** Ends the connection if no request is in progress or has partly arrived, and everything written has been sent. */
  endIfIdle(): void
  /** Gives up the socket and returns it for its new owner. */
  detach(): Socket
}
