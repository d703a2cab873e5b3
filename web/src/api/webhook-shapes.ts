import type { Answer, Input } from './call.ts'

/** An endpoint with its health and its delivery counts. */
export type Endpoint = Answer<'GET /organizations/:organization/webhooks/endpoints/:endpoint'>
export type EndpointState = Endpoint['state']
/** An endpoint's deliveries, counted by state. */
export type DeliveryCounts = Endpoint['deliveries']
/** A delivery in a list. */
export type Delivery =
  Answer<'GET /organizations/:organization/webhooks/deliveries'>['items'][number]
export type DeliveryState = Delivery['state']
/** A delivery with its body and attempts. */
export type DeliveryDetail =
  Answer<'GET /organizations/:organization/webhooks/deliveries/:delivery'>
export type Attempt = DeliveryDetail['attempt_list'][number]
/** An event type with its schema and sample. */
export type EventType = Answer<'GET /organizations/:organization/webhooks/types'>['items'][number]
/** The current signing secret, and the older ones that still sign during an overlap. */
export type Secrets = Answer<'GET /organizations/:organization/webhooks/secret'>
/** A long-running operation and its progress. */
export type Operation = Answer<'GET /organizations/:organization/operations/:operation'>
export type OperationState = Operation['state']
/** The body of a request to create an endpoint. */
export type EndpointInput = Input<'POST /organizations/:organization/webhooks/endpoints'>['body']
/** The body of a request to change an endpoint; it contains only the fields that change. */
export type EndpointChange = NonNullable<
  Input<'PATCH /organizations/:organization/webhooks/endpoints/:endpoint'>['body']
>

/** The filters for deliveries as they appear in the URL: strings. */
export interface DeliveryFilter {
  readonly endpoint?: string | undefined
  readonly state?: string | undefined
  readonly type?: string | undefined
  readonly event?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}
