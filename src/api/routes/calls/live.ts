import { Problem } from '../../../errors.ts'
import type { OrganizationId } from '../../../ids.ts'
import { calls, type CallRecord } from '../../../store/index.ts'
import { minuteMs } from '../../../units.ts'
import { Type } from '../../../http/index.ts'
import { namesFor, toApiCall } from './call-schema.ts'
import { route, Streamed, type RouteRequest } from '../../core/route.ts'
import type { Services } from '../../core/services.ts'

const everyMs = 1000
const pageSize = 200
const maxInTurn = 2000
/**
 * Every turn reads the calls that began within this time, because a record has the time at which its call began, but
 * appears only when the call has ended. Every fifth turn also reads those that began within `longBackMs`.
 */
const lookBackMs = 5000
const longBackMs = 2 * minuteMs
const longEveryTurns = 5
/** How long after its end a call may still be sent: its record may be written late, or read only in a fifth turn. */
const overlapMs = 15_000

/** A live stream of calls as they end. */
export const liveRoutes = {
  'GET /organizations/:organization/calls/live': route({
    summary:
      'Stream recorded calls as they end, as server-sent events; calls longer than two minutes are left out; above 200 calls a second, some other long ones are too, and above 2,000, some of any length. The stream ends with the session or access token',
    permission: 'traffic.see',
    streams: ['text/event-stream'],
    query: Type.Object({}),
    handle: async (request, services) => new Streamed('text/event-stream', tail(request, services)),
  }),
}

/** Sends ended calls as events until the caller disconnects, the caller's access ends, or the node stops. */
async function* tail(request: RouteRequest, services: Services): AsyncIterable<string> {
  const { organization, signal } = request
  const startedAt = services.clock.now()
  const sent = new Map<string, number>()
  const session = watchSession(request, services)
  try {
    yield 'retry: 1000\n\n'
    for (let turn = 0; ; turn++) {
      const mayHaveEnded = session.next()
      if (
        signal.aborted ||
        services.stopping.aborted ||
        !(await isStillAllowed(request, services))
      ) {
        return
      }
      const found = await ended(services, organization.id, { startedAt, turn })
      const fresh = found.filter(({ id }) => !sent.has(id)).toReversed()
      const names = await namesFor(organization, fresh, services)
      // The caller's rights are checked again after the read, so that no call recorded after the rights ended is sent.
      if (!(await isStillAllowed(request, services))) return
      const now = services.clock.now()
      for (const { id } of fresh) sent.set(id, now)
      const events = fresh.map(
        (call) =>
          `id: ${call.id}\nevent: call\ndata: ${JSON.stringify(toApiCall(call, names))}\n\n`,
      )
      yield events.length === 0 ? ': nothing new\n\n' : events.join('')
      for (const [id, at] of sent) if (at < now - 2 * overlapMs) sent.delete(id)
      await pause(everyMs, AbortSignal.any([signal, services.stopping, mayHaveEnded]))
    }
  } finally {
    session.stop()
  }
}

/**
 * Reads the calls that ended recently, newest first. In every fifth turn, calls that began more than 5 s ago follow.
 */
async function ended(
  services: Services,
  organizationId: OrganizationId,
  { startedAt, turn }: { readonly startedAt: number; readonly turn: number },
): Promise<CallRecord[]> {
  const now = services.clock.now()
  const read = async (page: { readonly from: number; readonly to?: number }) => {
    const found: CallRecord[] = []
    for (let isMore = true; isMore && found.length < maxInTurn;) {
      const part = await calls.list(services.store.slowCallReads, organizationId, {
        ...{ ...page, before: found.at(-1)?.id },
        endedFrom: Math.max(startedAt, now - overlapMs),
        limit: pageSize,
      })
      found.push(...part)
      isMore = part.length === pageSize
    }
    return found
  }
  const recent = await read({ from: now - lookBackMs })
  if (turn % longEveryTurns !== 0) return recent
  return [...recent, ...(await read({ from: now - longBackMs, to: now - lookBackMs }))]
}

/** Watches for changes that may have ended a request's session, so that the stream need not wait for its next poll. */
function watchSession(
  { caller }: Pick<RouteRequest, 'caller'>,
  services: Services,
): { next(): AbortSignal; stop(): void } {
  let change = new AbortController()
  const stop = services.sessions.onChange((id) => {
    if (caller.kind === 'token') return
    if (id === undefined || id === caller.person.sessionId) change.abort()
  })
  return {
    stop,
    /** Returns a signal that the next change aborts. */
    next() {
      change = new AbortController()
      return change.signal
    },
  }
}

/** Whether the caller's session and membership, or access token, are still valid. */
async function isStillAllowed(
  request: Pick<RouteRequest, 'caller' | 'organization'>,
  services: Services,
): Promise<boolean> {
  const { caller, organization } = request
  if (caller.kind === 'token') return await services.accessTokens.isGood(caller.token)
  const { person } = caller
  if ((await services.sessions.holderOf(person.sessionId)) === undefined) return false
  return (await services.members.membershipOf(person, organization.id)) !== undefined
}

/**
 * Throws `session_ended` during a long response if the caller's session, membership or access token has ended. The
 * connection then closes before the response is complete, so that nobody mistakes a part for the whole (RFC 9112,
 * section 8).
 */
export async function requireStillAllowed(
  request: Pick<RouteRequest, 'caller' | 'organization'>,
  services: Services,
): Promise<void> {
  if (await isStillAllowed(request, services)) return
  throw new Problem(
    'session_ended',
    'The session, membership or access token ended before the file did.',
  )
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
