import type { Answer, Input } from './call.ts'

/** An endpoint with its health and its books. */
export type Endpoint = Answer<'GET /organizations/:organization/webhooks/endpoints/:endpoint'>
export type EndpointState = Endpoint['state']
/** In which state how many of an endpoint's deliveries are. */
export type DeliveryCounts = Endpoint['deliveries']
/** A delivery in a list. */
export type Delivery =
  Answer<'GET /organizations/:organization/webhooks/deliveries'>['items'][number]
export type DeliveryState = Delivery['state']
/** A delivery with its bytes and attempts. */
export type DeliveryDetail =
  Answer<'GET /organizations/:organization/webhooks/deliveries/:delivery'>
export type Attempt = DeliveryDetail['attempt_list'][number]
/** An event type with its schema and sample. */
export type EventType = Answer<'GET /organizations/:organization/webhooks/types'>['items'][number]
/** The signing secret and the older ones that still sign. */
export type Secrets = Answer<'GET /organizations/:organization/webhooks/secret'>
/** Long work: how far it is. */
export type Operation = Answer<'GET /organizations/:organization/operations/:operation'>
export type OperationState = Operation['state']
/** What a person decides about an endpoint. */
export type EndpointWish = Input<'POST /organizations/:organization/webhooks/endpoints'>['body']
/** What is changed of an endpoint. */
export type EndpointChange = NonNullable<
  Input<'PATCH /organizations/:organization/webhooks/endpoints/:endpoint'>['body']
>

/** What deliveries can be narrowed by, as the address bar keeps it: texts. */
export interface DeliveryFilter {
  readonly endpoint?: string | undefined
  readonly state?: string | undefined
  readonly type?: string | undefined
  readonly event?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}
