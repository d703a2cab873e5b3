/** The gateway at /api/v1/intercept/…: identify, check, forward, record. */
import type { Moment } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Exchange } from '../http/index.ts'
import { gatewayPrefix } from '../targets/index.ts'
import { Call, type Arrival } from './call.ts'
import type { GatewayDeps } from './deps.ts'
import { createEnding } from './ending.ts'
import { createIdentify, type Identified } from './identify.ts'
import { createJudgeAgain } from './judge-again.ts'
import { createOpenCalls } from './open-calls.ts'
import { createOrigins } from './origins.ts'
import { createHandlers, type Handlers } from './handlers.ts'
import { minuteMs } from '../units.ts'

const checkPlace = `${gatewayPrefix}/-/check`
const sweepMs = minuteMs

export interface Gateway extends AsyncDisposable {
  /** Handles a request and responds, now or later. */
  handle(exchange: Exchange): void
  /** Ends event streams and WebSockets, which would otherwise keep a stopping process alive. */
  endStreams(): void
  /** Deletes call records older than this time (milliseconds since 1970), and old counts; see `forgetCalls`. */
  forget(olderThanMs: number): Promise<void>
  /** Writes the call records and counts that are waiting, and whatever else is due. */
  flush(): Promise<void>
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { addresses, store } = deps
  const identify = createIdentify({ ...deps, failures: deps.failedCredentials })
  const openCalls = createOpenCalls({ ...deps, judgeAgain: createJudgeAgain(deps) })
  // The end of a key must cut its open streams within a second.
  store.feed.keepAwakeWhile(() => openCalls.size > 0)
  const origins = createOrigins(deps.upstreams)
  const ending = createEnding(deps, openCalls)
  const handlers = createHandlers({ ...deps, openCalls, origins, ending })
  const sweep = setInterval(() => origins.sweep(), sweepMs)
  sweep.unref()

  function handle(exchange: Exchange): void {
    const address = addresses.of(exchange.peerAddress, exchange.head.forwardedFor)
    const arrival = arrivalOf(exchange, address, store.moment())
    try {
      // The clocks were read just above; after any wait, `moment` is too old to judge the feed by.
      const found = identify(exchange.head, arrival.address, arrival.moment) // 400 401 429 503
      // A cached key is checked synchronously: a promise would cost more than the checks.
      if (found instanceof Promise) void identified(arrival, found)
      else dispatch(arrival, found)
    } catch (error) {
      ending.refuseStranger(arrival, error)
    }
  }

  async function identified(arrival: Arrival, found: Promise<Identified>): Promise<void> {
    try {
      dispatch(arrival, await found)
    } catch (error) {
      ending.refuseStranger(arrival, error)
    }
  }

  /** Handles everything after the caller is identified, or refused; never throws. */
  function dispatch(arrival: Arrival, identified: Identified): void {
    if (identified instanceof Problem) {
      ending.refuseStranger(arrival, identified)
      return
    }
    const call = new Call(arrival, identified)
    try {
      handleCall(call, handlers)
    } catch (error) {
      ending.refuse(call, error)
    }
  }

  return {
    handle,
    endStreams: () => openCalls.endStreams(),
    forget: async (olderThanMs) => await ending.forget(olderThanMs),
    flush: async () => await ending.flush(),
    async [Symbol.asyncDispose]() {
      clearInterval(sweep)
      openCalls[Symbol.dispose]()
      await ending[Symbol.asyncDispose]()
    },
  }
}

function handleCall(call: Call, handlers: Handlers): void {
  const { path, isQuestion } = call.arrival
  if (isQuestion) handlers.forwardAuth(call)
  else if (path.length <= gatewayPrefix.length + 1) handlers.whoami(call)
  else handlers.guard(call)
}

function arrivalOf(exchange: Exchange, address: string, moment: Moment): Arrival {
  const path = pathOf(exchange.url)
  return { exchange, address, moment, path, isQuestion: isBelow(path, checkPlace) }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

function isBelow(path: string, place: string): boolean {
  return path.startsWith(place) && (path.length === place.length || path[place.length] === '/')
}
