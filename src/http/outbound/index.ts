/** Calls to addresses that somebody configured: checked when saved and at every connect, capped in time and size. */
export { createOutbound, type FetchInit, type Outbound, type OutboundOptions } from './client.ts'
export type { OutboundAnswer, OutboundRequest } from './exchange.ts'
export {
  createConnector,
  systemConnect,
  type Connector,
  type ConnectTo,
  type Destination,
} from './connector.ts'
export { createAddressGuard, type AddressGuard, type GuardOptions } from './guard.ts'
export { OutboundError, type OutboundFailure } from './outbound-error.ts'
export { createResolver, systemResolve, type Resolve } from './resolver.ts'
export { checkUrl, type OutboundUrl } from './url-rules.ts'
