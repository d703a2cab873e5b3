/** Server and lanes, the outbound client with its address guard, problem answers, cookies, limits. */
export * from './outbound/index.ts'
export { createClientAddresses, sourceOf, type ClientAddresses } from './client-address.ts'
export type { Exchange } from './exchange.ts'
export { freePort } from './free-port.ts'
export { createFront, requestIdOf } from './front.ts'

export { foldHeaderName, isReservedHeader, originHeaders } from './header-rules.ts'
export type { AnswerFilter } from './upstream/answer-headers.ts'
export { forward, type ForwardResult, type ForwardTap } from './upstream/forward.ts'
export { echoHost, openEcho, type Echo } from './echo.ts'
export { createUpstreams, type UpstreamOrigin, type Upstreams } from './upstream/pool.ts'
export { renderRequestHead } from './upstream/request-head.ts'
export { createTxtResolver, type ResolveTxt, type TxtAnswer } from './txt-resolver.ts'
export {
  answerWith,
  createApp,
  peerAddress,
  type App,
  type AppReply,
  type AppRequest,
} from './app.ts'
export { watchMethods } from './other-methods.ts'
export { cookieValues, hostCookie } from './cookies.ts'
export { Type, type Static, type TSchema } from './schema.ts'
export { checkContentType, checkSameOrigin } from './origin.ts'
export type { OwnRefusals } from './problem.ts'
