import { Type, type Static } from '../../../http/index.ts'
import type {
  AttemptRecord,
  DeliveryRecord,
  EndpointBooks,
  EndpointRecord,
  OperationRecord,
} from '../../../store/index.ts'
import { nullable, oneOf, Time, time, timeOrNull } from '../../core/schemas.ts'

/** The books of an endpoint: committed is the sum of the others, always. */
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
    /** null = every type. */
    types: nullable(Type.Array(Type.String())),
    /** Names only: values may be a receiver's secrets. */
    headerNames: Type.Array(Type.String()),
    ratePerSecond: nullable(Type.Integer()),
    ordered: Type.Boolean(),
    /** For `v1a` signatures (Ed25519), `whpk_…`. */
    publicKey: nullable(Type.String()),
    state: oneOf(['active', 'held', 'disabled']),
    disabledReason: nullable(Type.String()),
    failures: Type.Integer(),
    failingSince: nullable(Time),
    lastSuccessAt: nullable(Time),
    lastAttemptAt: nullable(Time),
    heldAt: nullable(Time),
    probeAt: nullable(Time),
    createdAt: Time,
    createdBy: nullable(Type.String()),
    version: Type.Integer(),
    deliveries: Books,
  },
  { title: 'Endpoint' },
)

const noBooks = { committed: 0, delivered: 0, dead: 0, pending: 0, held: 0, skipped: 0 }

/** An endpoint as it is answered. */
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
    headerNames: [...endpoint.headerNames],
    ratePerSecond: endpoint.ratePerSecond ?? null,
    ordered: endpoint.ordered,
    publicKey: endpoint.publicKey ?? null,
    state: health.state,
    disabledReason: health.disabledReason ?? null,
    failures: health.failures,
    failingSince: timeOrNull(health.failingSince),
    lastSuccessAt: timeOrNull(health.lastSuccessAt),
    lastAttemptAt: timeOrNull(endpoint.lastAttemptAt),
    heldAt: timeOrNull(health.heldAt),
    probeAt: timeOrNull(health.probeAt),
    createdAt: time(endpoint.createdAt),
    createdBy: endpoint.createdBy ?? null,
    version: endpoint.version,
    deliveries: { committed, delivered, dead, pending, held, skipped },
  }
}

export const deliveryStates = ['pending', 'held', 'delivered', 'dead', 'skipped'] as const

const deliveryProperties = {
  id: Type.String(),
  endpointId: Type.String(),
  eventId: Type.String(),
  eventSequence: Type.Integer(),
  type: Type.String(),
  state: oneOf(deliveryStates),
  /** When the next attempt is due; null when it has ended. */
  dueAt: nullable(Time),
  /** Since it became pending, of ten; and in all. */
  attempts: Type.Integer(),
  attemptsEver: Type.Integer(),
  createdAt: Time,
  completedAt: nullable(Time),
  lastAttemptAt: nullable(Time),
  lastStatus: nullable(Type.Integer()),
  lastFailure: nullable(Type.String()),
  skippedReason: nullable(Type.String()),
  operationId: nullable(Type.String()),
}

export const Delivery = Type.Object(deliveryProperties, { title: 'Delivery' })

const Attempt = Type.Object(
  {
    id: Type.String(),
    number: Type.Integer(),
    /** Whether it tested a held endpoint. */
    probe: Type.Boolean(),
    startedAt: Time,
    durationMs: Type.Integer(),
    status: nullable(Type.Integer()),
    failure: nullable(Type.String()),
    /** What the receiver answered, up to 16 KiB; bytes that are no text show as U+FFFD. */
    answer: nullable(Type.String()),
    answerTruncated: Type.Boolean(),
  },
  { title: 'Attempt' },
)

export const DeliveryWithAttempts = Type.Object(
  {
    ...deliveryProperties,
    /** The stored bytes, exactly as they are sent. */
    body: nullable(Type.String()),
    attemptList: Type.Array(Attempt),
  },
  { title: 'DeliveryWithAttempts' },
)

/** A delivery as it is answered. */
export function toDelivery(delivery: DeliveryRecord): Static<typeof Delivery> {
  const waits = delivery.state === 'pending' || delivery.state === 'held'
  return {
    id: delivery.id,
    endpointId: delivery.endpointId,
    eventId: delivery.eventId,
    eventSequence: delivery.eventSequence,
    type: delivery.type,
    state: delivery.state,
    dueAt: waits ? time(delivery.dueAt) : null,
    attempts: delivery.attempts,
    attemptsEver: delivery.attemptsEver,
    createdAt: time(delivery.createdAt),
    completedAt: timeOrNull(delivery.completedAt),
    lastAttemptAt: timeOrNull(delivery.lastAttemptAt),
    lastStatus: delivery.lastStatus ?? null,
    lastFailure: delivery.lastFailure ?? null,
    skippedReason: delivery.skippedReason ?? null,
    operationId: delivery.operationId ?? null,
  }
}

/** An attempt as it is answered; the receiver's bytes become text and nothing else of ours. */
export function toAttempt(attempt: AttemptRecord): Static<typeof Attempt> {
  const { responseBody } = attempt
  return {
    id: attempt.id,
    number: attempt.number,
    probe: attempt.probe,
    startedAt: time(attempt.startedAt),
    durationMs: attempt.durationMs,
    status: attempt.status ?? null,
    failure: attempt.failure ?? null,
    answer: responseBody === undefined ? null : Buffer.from(responseBody).toString('utf8'),
    answerTruncated: attempt.responseTruncated,
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
    createdAt: Time,
    createdBy: nullable(Type.String()),
    createdByName: nullable(Type.String()),
    updatedAt: Time,
    finishedAt: nullable(Time),
  },
  { title: 'Operation' },
)

/** An operation as it is answered. */
export function toOperation(operation: OperationRecord): Static<typeof Operation> {
  return {
    id: operation.id,
    kind: operation.kind,
    state: operation.state,
    parameters: operation.parameters,
    total: operation.total,
    done: operation.done,
    error: operation.error ?? null,
    createdAt: time(operation.createdAt),
    createdBy: operation.createdBy ?? null,
    createdByName: operation.createdByName ?? null,
    updatedAt: time(operation.updatedAt),
    finishedAt: timeOrNull(operation.finishedAt),
  }
}
