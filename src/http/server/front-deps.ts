import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../clock.ts'
import type { Exchange } from './exchange.ts'
import type { Acceptor } from './listening/acceptor.ts'
import { maxAcceptMs } from './listening/stop-accepting.ts'
import type { OwnRefusals } from './problem.ts'

/** The limits of one listener; sizes in bytes, times in milliseconds. */
export interface FrontLimits {
  readonly headBytes: number
  readonly urlBytes: number
  readonly headMs: number
  readonly keepAliveMs: number
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
  /** How long a caller may read nothing of a response that has been written. */
  readonly unreadMs: number
  /** While draining: how long it may take to accept the connections that callers have already made. */
  readonly acceptMs: number
  /**
   * While draining: how long at most a connection without a request in progress is kept open; an idle one ends sooner.
   */
  readonly leaveMs: number
  /** While draining: how long a request body may be too slow, or a caller may read nothing of its response. */
  readonly stallMs: number
}

/** The limits that apply unless a listener is given others. */
export const frontLimits: FrontLimits = {
  headBytes: 16 * 1024,
  urlBytes: 8 * 1024,
  headMs: 15_000,
  keepAliveMs: 75_000,
  bodyWindowMs: 20_000,
  bodyWindowBytes: 20 * 1024,
  unreadMs: 300_000,
  acceptMs: maxAcceptMs,
  leaveMs: 1000,
  stallMs: 5000,
}

/**
 * How requests are parsed: the plain lane parses ordinary requests itself; the standard lane leaves every request to
 * node:http.
 */
export type Lane = 'plain' | 'standard'

export interface FrontDeps {
  /** Handles everything at and below the gateway's prefix, including upgrades. */
  readonly handleGateway: (exchange: Exchange) => void
  /** Handles everything else. */
  readonly handleApp: (request: IncomingMessage, response: ServerResponse) => void
  readonly gatewayPrefix: string
  readonly baseUrl: string
  readonly limits?: Partial<FrontLimits>
  /** The lane for ordinary gateway requests; all other requests use the standard lane in any case. */
  readonly lane?: Lane
  /** Accepts the connections; by default, the front listens itself. */
  readonly acceptor?: Acceptor | undefined
  /** Entry points with their own error format; all other refusals are problem documents (RFC 9457). */
  readonly ownRefusals?: readonly OwnRefusals[]
  readonly clock: Clock
  readonly log: { error(fields: object, text: string): void }
}
