import { Type, type Static } from '../../../http/index.ts'
import {
  snakeCased,
  type AttemptRecord,
  type DeliveryRecord,
  type EndpointBooks,
  type EndpointRecord,
  type OperationRecord,
} from '../../../store/index.ts'
import { nullable, oneOf, Time, time, timeOrNull } from '../../core/schemas.ts'

/** `committed` counts all deliveries of the endpoint; the other counts add up to it. */
const Books = Type.Object(
  {
    committed: Type.Integer(),
    delivered: Type.Integer(),
    dead: Type.Integer(),
    pending: Type.Integer(),
    held: Type.Integer(),
    skipped: Type.Integer(),
  },
  { title: 'EndpointBooks' },
)

export const Endpoint = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    description: Type.String(),
    /** null means every type. */
    types: nullable(Type.Array(Type.String())),
    /** The names of the additional headers, without their values, which may be a receiver's secrets. */
    header_names: Type.Array(Type.String()),
    rate_per_second: nullable(Type.Integer()),
    ordered: Type.Boolean(),
    /** The public key (`whpk_…`) for `v1a` signatures (Ed25519). */
    public_key: nullable(Type.String()),
    state: oneOf(['active', 'held', 'disabled']),
    disabled_reason: nullable(Type.String()),
    failures: Type.Integer(),
    failing_since: nullable(Time),
    last_success_at: nullable(Time),
    last_attempt_at: nullable(Time),
    held_at: nullable(Time),
    probe_at: nullable(Time),
    created_at: Time,
    created_by: nullable(Type.String()),
    version: Type.Integer(),
    deliveries: Books,
  },
  { title: 'Endpoint' },
)

const noBooks = { committed: 0, delivered: 0, dead: 0, pending: 0, held: 0, skipped: 0 }

export function toEndpoint(
  endpoint: EndpointRecord,
  books: EndpointBooks | undefined,
): Static<typeof Endpoint> {
  const { health } = endpoint
  const { committed, delivered, dead, pending, held, skipped } = books ?? noBooks
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    types: endpoint.types ? [...endpoint.types] : null,
    header_names: [...endpoint.headerNames],
    rate_per_second: endpoint.ratePerSecond ?? null,
    ordered: endpoint.ordered,
    public_key: endpoint.publicKey ?? null,
    state: health.state,
    disabled_reason: health.disabledReason ?? null,
    failures: health.failures,
    failing_since: timeOrNull(health.failingSince),
    last_success_at: timeOrNull(health.lastSuccessAt),
    last_attempt_at: timeOrNull(endpoint.lastAttemptAt),
    held_at: timeOrNull(health.heldAt),
    probe_at: timeOrNull(health.probeAt),
    created_at: time(endpoint.createdAt),
    created_by: endpoint.createdBy ?? null,
    version: endpoint.version,
    deliveries: { committed, delivered, dead, pending, held, skipped },
  }
}

export const deliveryStates = ['pending', 'held', 'delivered', 'dead', 'skipped'] as const

const deliveryProperties = {
  id: Type.String(),
  endpoint_id: Type.String(),
  event_id: Type.String(),
  event_sequence: Type.Integer(),
  type: Type.String(),
  state: oneOf(deliveryStates),
  /** When the next attempt is due; null once the delivery has ended. */
  due_at: nullable(Time),
  /** The attempts that count towards the limit, since the delivery last became pending; `attempts_ever` counts all. */
  attempts: Type.Integer(),
  attempts_ever: Type.Integer(),
  created_at: Time,
  completed_at: nullable(Time),
  last_attempt_at: nullable(Time),
  last_status: nullable(Type.Integer()),
  last_failure: nullable(Type.String()),
  skipped_reason: nullable(Type.String()),
  operation_id: nullable(Type.String()),
}

export const Delivery = Type.Object(deliveryProperties, { title: 'Delivery' })

const Attempt = Type.Object(
  {
    id: Type.String(),
    number: Type.Integer(),
    /** Whether the attempt was a probe of a held endpoint. */
    probe: Type.Boolean(),
    started_at: Time,
    duration_ms: Type.Integer(),
    status: nullable(Type.Integer()),
    failure: nullable(Type.String()),
    /**
     * The body of the receiver's response, up to 16 KiB; null if there was none, and for all but the last 16 attempts.
     */
    answer: nullable(Type.String()),
    answer_truncated: Type.Boolean(),
  },
  { title: 'Attempt' },
)

export const DeliveryWithAttempts = Type.Object(
  {
    ...deliveryProperties,
    /** The stored bytes, exactly as they are sent; null if the event is no longer kept. */
    body: nullable(Type.String()),
    attempt_list: Type.Array(Attempt),
  },
  { title: 'DeliveryWithAttempts' },
)

export function toDelivery(delivery: DeliveryRecord): Static<typeof Delivery> {
  const waits = delivery.state === 'pending' || delivery.state === 'held'
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_sequence: delivery.eventSequence,
    type: delivery.type,
    state: delivery.state,
    due_at: waits ? time(delivery.dueAt) : null,
    attempts: delivery.attempts,
    attempts_ever: delivery.attemptsEver,
    created_at: time(delivery.createdAt),
    completed_at: timeOrNull(delivery.completedAt),
    last_attempt_at: timeOrNull(delivery.lastAttemptAt),
    last_status: delivery.lastStatus ?? null,
    last_failure: delivery.lastFailure ?? null,
    skipped_reason: delivery.skippedReason ?? null,
    operation_id: delivery.operationId ?? null,
  }
}

export function toAttempt(attempt: AttemptRecord): Static<typeof Attempt> {
  const { responseBody } = attempt
  return {
    id: attempt.id,
    number: attempt.number,
    probe: attempt.probe,
    started_at: time(attempt.startedAt),
    duration_ms: attempt.durationMs,
    status: attempt.status ?? null,
    failure: attempt.failure ?? null,
    answer: responseBody === undefined ? null : Buffer.from(responseBody).toString('utf8'),
    answer_truncated: attempt.responseTruncated,
  }
}

export const Operation = Type.Object(
  {
    id: Type.String(),
    kind: Type.String(),
    state: oneOf(['running', 'paused', 'cancelled', 'done', 'failed']),
    parameters: Type.Record(Type.String(), Type.Unknown()),
    total: Type.Integer(),
    done: Type.Integer(),
    error: nullable(Type.String()),
    created_at: Time,
    created_by: nullable(Type.String()),
    created_by_name: nullable(Type.String()),
    updated_at: Time,
    finished_at: nullable(Time),
  },
  { title: 'Operation' },
)

export function toOperation(operation: OperationRecord): Static<typeof Operation> {
  return {
    id: operation.id,
    kind: operation.kind,
    state: operation.state,
    parameters: snakeCased(operation.parameters) as Record<string, unknown>,
    total: operation.total,
    done: operation.done,
    error: operation.error ?? null,
    created_at: time(operation.createdAt),
    created_by: operation.createdBy ?? null,
    created_by_name: operation.createdByName ?? null,
    updated_at: time(operation.updatedAt),
    finished_at: timeOrNull(operation.finishedAt),
  }
}
