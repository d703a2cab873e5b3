/**
 * Requests to configured URLs. The URLs are checked when they are saved and at every connection, and each request has
 * limits on time and size.
 */
export { createOutbound, type Outbound } from './client.ts'

export { createConnector } from './connector.ts'
export { createAddressGuard, type AddressGuard } from './guard.ts'
export { OutboundError, type OutboundFailure } from './outbound-error.ts'
export { createResolver, systemResolve } from './resolver.ts'
export { checkUrl } from './url-rules.ts'
