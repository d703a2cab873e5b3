import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { deliveryChoices } from './choices.ts'
import { rangeName, spanOf, type RangeSearch } from '../parts/range.ts'
import { call, type Answer } from './call.ts'
import {
  type DeliveryFilter,
  type Endpoint,
  type EndpointChange,
  type EndpointInput,
} from './webhook-shapes.ts'

const deliveriesShown = 50
const deliveryPollMs = 3000

export function endpointsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'webhooks', 'endpoints'],
    refetchInterval: 10_000,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/webhooks/endpoints',
        { path: { organization } },
        { signal },
      ),
  })
}

/** Refetched, because the endpoint's health may change while its page is open. */
export function endpointQuery(organization: string, endpoint: string) {
  return queryOptions({
    queryKey: [organization, 'webhooks', 'endpoints', endpoint],
    refetchInterval: deliveryPollMs,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/webhooks/endpoints/:endpoint',
        { path: { organization, endpoint } },
        { signal },
      ),
  })
}

export type EndpointFigures =
  Answer<'GET /organizations/:organization/webhooks/endpoints/:endpoint/figures'>

export function endpointFiguresQuery(organization: string, endpoint: string, range: RangeSearch) {
  return queryOptions({
    queryKey: [organization, 'webhooks', 'figures', endpoint, range],
    placeholderData: keepPreviousData,
    refetchInterval: rangeName(range) === undefined ? false : 15_000,
    queryFn: ({ signal }) => {
      const { from, to, stepMs } = spanOf(range)
      return call(
        'GET /organizations/:organization/webhooks/endpoints/:endpoint/figures',
        {
          path: { organization, endpoint },
          query: {
            from: new Date(from).toISOString(),
            to: new Date(to).toISOString(),
            step_ms: stepMs,
          },
        },
        { signal },
      )
    },
  })
}

export function deliveriesQuery(
  organization: string,
  filter: DeliveryFilter,
  limit = deliveriesShown,
) {
  return infiniteQueryOptions({
    queryKey: [organization, 'webhooks', 'deliveries', filter, limit],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    refetchInterval: deliveryPollMs,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /organizations/:organization/webhooks/deliveries',
        {
          path: { organization },
          query: { ...asked(filter), limit, after: pageParam === '' ? undefined : pageParam },
        },
        { signal },
      ),
    getNextPageParam: (last) => last.next ?? undefined,
  })
}

export function deliveryQuery(organization: string, delivery: string) {
  return queryOptions({
    queryKey: [organization, 'webhooks', 'delivery', delivery],
    refetchInterval: deliveryPollMs,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/webhooks/deliveries/:delivery',
        { path: { organization, delivery } },
        { signal },
      ),
  })
}

/** How many deliveries a replay would send again. */
export function replayCountQuery(organization: string, filter: DeliveryFilter) {
  return queryOptions({
    queryKey: [organization, 'webhooks', 'replay-count', filter],
    staleTime: 0,
    queryFn: ({ signal }) =>
      call(
        'POST /organizations/:organization/webhooks/replays/count',
        { path: { organization }, body: asked(filter) },
        { signal },
      ),
  })
}

export function eventTypesQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'webhooks', 'types'],
    staleTime: 600_000,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/webhooks/types',
        { path: { organization } },
        { signal },
      ),
  })
}

/** Reads the signing secret, without caching it; called only when somebody asks to see it. */
export async function readSecret(organization: string) {
  return await call('GET /organizations/:organization/webhooks/secret', { path: { organization } })
}

/** Creates a new signing secret; the old one keeps signing during the overlap. */
export async function rotateSecret(organization: string, overlapSeconds: number) {
  return await call('POST /organizations/:organization/webhooks/secret/rotate', {
    path: { organization },
    body: { overlap_seconds: overlapSeconds },
  })
}

export async function endOldSecrets(organization: string): Promise<void> {
  await call('POST /organizations/:organization/webhooks/secret/end-old', {
    path: { organization },
  })
}

export async function addEndpoint(organization: string, input: EndpointInput) {
  return await call('POST /organizations/:organization/webhooks/endpoints', {
    path: { organization },
    body: input,
  })
}

/** Changes an endpoint; omitted fields stay unchanged. Refused if the endpoint has changed since `version`. */
export async function changeEndpoint(
  organization: string,
  { id, version }: Pick<Endpoint, 'id' | 'version'>,
  input: EndpointChange,
) {
  return await call(
    'PATCH /organizations/:organization/webhooks/endpoints/:endpoint',
    { path: { organization, endpoint: id }, body: input },
    { version },
  )
}

export async function switchEndpoint(organization: string, endpoint: string, on: boolean) {
  const path = { organization, endpoint }
  return on
    ? await call('POST /organizations/:organization/webhooks/endpoints/:endpoint/enable', { path })
    : await call('POST /organizations/:organization/webhooks/endpoints/:endpoint/disable', { path })
}

/** Deletes an endpoint; its deliveries stay visible. */
export async function deleteEndpoint(organization: string, endpoint: string): Promise<void> {
  await call('DELETE /organizations/:organization/webhooks/endpoints/:endpoint', {
    path: { organization, endpoint },
  })
}

export async function sendPing(organization: string, endpoint: string) {
  return await call('POST /organizations/:organization/webhooks/endpoints/:endpoint/ping', {
    path: { organization, endpoint },
  })
}

export async function sendSample(organization: string, endpoint: string, type: string) {
  return await call('POST /organizations/:organization/webhooks/endpoints/:endpoint/sample', {
    path: { organization, endpoint },
    body: { type },
  })
}

/** Sends one delivery again, with the same id and body. */
export async function replayDelivery(organization: string, delivery: string) {
  return await call('POST /organizations/:organization/webhooks/deliveries/:delivery/replay', {
    path: { organization, delivery },
  })
}

export async function startReplay(organization: string, filter: DeliveryFilter) {
  return await call('POST /organizations/:organization/webhooks/replays', {
    path: { organization },
    body: asked(filter),
  })
}

/** Drops a state that the API doesn't know, because anyone can edit the URL. */
function asked(filter: DeliveryFilter) {
  const state = deliveryChoices.find((one) => one === filter.state)
  return { ...filter, state }
}
