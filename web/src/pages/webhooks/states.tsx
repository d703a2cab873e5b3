import { webhookWords as w } from '../../../words/en/webhooks.ts'
import type {
  Attempt,
  Delivery,
  DeliveryCounts,
  DeliveryState,
  Endpoint,
  EndpointState,
} from '../../api/webhook-shapes.ts'
import { StackBar } from '../../parts/StackBar.tsx'
import { Badge, type Tone } from '../../parts/Surface.tsx'

const endpointTones: Readonly<Record<EndpointState, Tone>> = {
  active: 'pass',
  held: 'caution',
  disabled: 'plain',
}
const deliveryTones: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'caution',
  held: 'caution',
  delivered: 'pass',
  dead: 'refuse',
  skipped: 'plain',
}

export function EndpointBadge({ state }: { readonly state: EndpointState }) {
  return <Badge tone={endpointTones[state]}>{w.states[state]}</Badge>
}

export function DeliveryBadge({
  delivery: { state, attempts },
}: {
  readonly delivery: Pick<Delivery, 'state' | 'attempts'>
}) {
  if (state === 'pending' && attempts > 0)
    return <Badge tone="caution">{w.deliveryStates.retrying}</Badge>
  return <Badge tone={deliveryTones[state]}>{w.deliveryStates[state]}</Badge>
}

export function BooksBar({ books }: { readonly books: DeliveryCounts }) {
  const waiting = books.pending + books.held
  const lost = books.dead + books.skipped
  return (
    <StackBar
      label={w.books(books.delivered, waiting, lost)}
      parts={[
        { number: books.delivered, tone: 'flow' },
        { number: waiting, tone: 'waits' },
        { number: lost, tone: 'bad' },
      ]}
    />
  )
}

export function answerText(status: number | undefined, failure: string | undefined): string {
  if (failure !== undefined && status === undefined) {
    const [kind = ''] = failure.split(':')
    return (w.failures as Readonly<Record<string, string>>)[kind] ?? failure
  }
  return status === undefined ? w.deliveries.notTried : String(status)
}

export function succeeded(attempt: Pick<Attempt, 'status' | 'failure'>): boolean {
  const { status, failure } = attempt
  return failure === undefined && status !== undefined && status >= 200 && status < 300
}

/** An endpoint's name: its description or, if that is empty, its URL without the scheme. */
export function endpointName(endpoint: Pick<Endpoint, 'url' | 'description'>): string {
  return endpoint.description === ''
    ? endpoint.url.replace(/^https?:\/\//, '')
    : endpoint.description
}

/**
 * The name of a delivery's endpoint; an endpoint that is missing from `endpoints` counts as deleted. Returns the id as
 * long as `endpoints` is undefined.
 */
export function nameOfEndpoint(
  delivery: Pick<Delivery, 'endpoint_id'>,
  endpoints: readonly Endpoint[] | undefined,
): string {
  if (endpoints === undefined) return delivery.endpoint_id
  const found = endpoints.find((one) => one.id === delivery.endpoint_id)
  return found === undefined ? w.deliveries.deletedEndpoint : endpointName(found)
}
