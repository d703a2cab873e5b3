/** The server with its two lanes, the forwarding to upstreams, and the outbound client with its address guard. */
export * from './outbound/index.ts'
export { createClientAddresses, type ClientAddresses } from './server/client-address.ts'
export type { Exchange } from './server/exchange.ts'
export type { RelayedLines } from './server/lane/carrier.ts'
export { createFront, requestIdOf } from './server/front.ts'
export type { Acceptor, AddressInfo, Socket } from './server/listening/acceptor.ts'
export { freePort } from './server/listening/free-port.ts'
export type { ConnectionTaker, TakerReport } from './server/listening/connection-queue.ts'
export { SpreadListener } from './server/listening/spread-listener.ts'

export * from './message/index.ts'
export type { AnswerFilter } from './upstream/response-headers.ts'
export {
  forward,
  type ForwardOwner,
  type ForwardResult,
  type ForwardTap,
} from './upstream/forward.ts'
export { echoHost, openEcho, type Echo } from './upstream/echo.ts'
export { createUpstreams, type UpstreamOrigin, type Upstreams } from './upstream/pool.ts'
export { renderRequestHead } from './upstream/request-head.ts'
export { createTxtResolver, type ResolveTxt, type TxtAnswer } from './outbound/txt-resolver.ts'
export {
  answerWith,
  createApp,
  peerAddress,
  type App,
  type AppReply,
  type AppRequest,
  type RequestEnd,
} from './server/app.ts'
export { watchMethods } from './server/other-methods.ts'
export { Type, type Static, type TSchema } from './server/schema.ts'
export { checkContentType, checkSameOrigin } from './server/origin.ts'
export type { OwnRefusals } from './server/problem.ts'
