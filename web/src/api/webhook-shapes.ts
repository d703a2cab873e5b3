import type { Answer, Input } from './call.ts'

export type Endpoint = Answer<'GET /organizations/:organization/webhooks/endpoints/:endpoint'>
export type EndpointState = Endpoint['state']
export type DeliveryCounts = Endpoint['deliveries']
export type Delivery =
  Answer<'GET /organizations/:organization/webhooks/deliveries'>['items'][number]
export type DeliveryState = Delivery['state']
export type DeliveryDetail =
  Answer<'GET /organizations/:organization/webhooks/deliveries/:delivery'>
export type Attempt = DeliveryDetail['attempt_list'][number]
export type EventType = Answer<'GET /organizations/:organization/webhooks/types'>['items'][number]
/** The current signing secret, and the hints of older ones that still sign during an overlap. */
export type Secrets = Answer<'GET /organizations/:organization/webhooks/secret'>
export type Operation = Answer<'GET /organizations/:organization/operations/:operation'>
export type OperationState = Operation['state']
export type EndpointInput = Input<'POST /organizations/:organization/webhooks/endpoints'>['body']
/** Omitted fields stay unchanged. */
export type EndpointChange = NonNullable<
  Input<'PATCH /organizations/:organization/webhooks/endpoints/:endpoint'>['body']
>

/** The filters for deliveries as they appear in the URL. */
export interface DeliveryFilter {
  readonly endpoint?: string | undefined
  readonly state?: string | undefined
  readonly type?: string | undefined
  readonly event?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}
