/**
 * The lane for ordinary requests, which parses HTTP/1.1 from the socket's bytes; everything else goes to the standard
 * lane with all its bytes.
 */
import type { Socket } from 'node:net'
import type { Clock } from '../../../clock.ts'
import { PlainConnection } from './connection.ts'
import type { LaneConnection, PlainDeps, PlainLimits } from './deps.ts'
import { RequestParser } from './request-parser.ts'
import { createResponseEndings } from './response-head.ts'

/** The plain lane of one listener. */
export interface PlainLane {
  open(socket: Socket): LaneConnection
  /** Ends connections that waited too long for a request. */
  endLate(): void
  /** Ends idle connections. */
  endIdle(): void
}

export function createPlainLane(
  given: Pick<PlainDeps, 'accept' | 'take' | 'handOver' | 'fail' | 'closed'> & {
    readonly clock: Clock
    readonly limits: PlainLimits & { readonly headBytes: number; readonly urlBytes: number }
    readonly prefix: string
  },
): PlainLane {
  const { clock, limits, prefix } = given
  const open = new Set<LaneConnection>()
  let dateAt = 0
  let dateText = ''

  /** Renders the Date header's value at most once per second (RFC 9110, section 6.6.1). */
  function date(): string {
    const now = clock.now()
    if (now < dateAt || now >= dateAt + 1000) {
      dateAt = now - (now % 1000)
      dateText = new Date(now).toUTCString()
    }
    return dateText
  }

  const deps: PlainDeps = {
    parser: new RequestParser({ prefix, ...limits }),
    limits,
    endings: createResponseEndings(Math.floor(limits.keepAliveMs / 1000), date),
    monotonic: () => clock.monotonic(),
    accept: given.accept,
    take: given.take,
    fail: given.fail,
    handOver(connection, bytes) {
      open.delete(connection)
      given.handOver(connection, bytes)
    },
    closed(connection) {
      open.delete(connection)
      given.closed(connection)
    },
  }
  return {
    open(socket) {
      const connection = new PlainConnection(socket, deps)
      open.add(connection)
      return connection
    },
    endLate() {
      const nowMs = clock.monotonic()
      for (const connection of open) connection.endIfLate(nowMs)
    },
    endIdle() {
      for (const connection of open) connection.endIfIdle()
    },
  }
}
