import type { DueDelivery, EndpointRecord } from '../../store/index.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import { Pace } from './pace.ts'
import type { Applicant } from './places.ts'
import type { PreparedEndpoint } from './send.ts'
import type { HealthOutcome } from './work.ts'

const concurrencyFirst = 4
const maxConcurrency = 8
const maxQueue = 64
// Endpoints that fail may be many and stay long: they keep little in memory.
const queueOfFailing = 4

/** One endpoint while this node holds its lease: what waits in memory, and how much may go out now. */
export interface Lane {
  /** As it was when the lease was taken last. */
  endpoint: EndpointRecord
  readonly prepared: PreparedEndpoint
  readonly pace: Pace
  /** How the endpoint is doing; written with every batch. */
  health: EndpointHealth
  /** Monotonic milliseconds after which nothing may be started on this lease. */
  leaseEndsAt: number
  queue: DueDelivery[]
  /** How many may be under way at once: grows with successes, falls to one when the receiver hangs. */
  concurrency: number
  loading: boolean
  /** Whether the store had no more that can be sent; a wake asks it anew. */
  exhausted: boolean
  /** Something was published while the lane was loading. */
  hinted: boolean
  /** Monotonic milliseconds since which the lane has had nothing to do. */
  idleSince: number | undefined
  /** Tokens of the endpoint's rate, as of a monotonic time. */
  tokens: number
  tokensAt: number
  cancelWake: (() => void) | undefined
  /** When the next delivery is due, in milliseconds since 1970, as far as it is known. */
  nextDueAt: number | undefined
  lastAttemptAt: number | undefined
}

/** A lane over a lease just taken. */
export function createLane(
  endpoint: EndpointRecord,
  prepared: PreparedEndpoint,
  times: { leaseEndsAt: number; monotonic: number },
): Lane {
  return {
    endpoint,
    prepared,
    pace: new Pace(endpoint.ordered),
    health: endpoint.health as EndpointHealth,
    leaseEndsAt: times.leaseEndsAt,
    queue: [],
    concurrency: concurrencyFirst,
    loading: false,
    exhausted: false,
    hinted: false,
    idleSince: undefined,
    tokens: endpoint.ratePerSecond ?? 0,
    tokensAt: times.monotonic,
    cancelWake: undefined,
    nextDueAt: undefined,
    lastAttemptAt: undefined,
  }
}

/** Whether nobody had the endpoint, and nobody changed it by hand, between two takings of ours: each moves the token. */
export function follows(taken: EndpointRecord, before: EndpointRecord): boolean {
  return taken.leaseToken === before.leaseToken + 1 && taken.version === before.version
}

/** A copy of what there is to write: the lane goes on meanwhile, and under which lease it was written must stay known. */
export function healthOf({ endpoint, health, lastAttemptAt }: Lane): HealthOutcome {
  return { endpoint, health, lastAttemptAt }
}

/** How many may be under way now. A held endpoint gets one probe, an ordered one never a second delivery. */
export function concurrencyOf(lane: Lane): number {
  if (lane.health.state === 'disabled') return 0
  return lane.health.state === 'held' || lane.endpoint.ordered ? 1 : lane.concurrency
}

/** Who asks for a place for the lane's next request. */
export function applicantOf({ endpoint, health }: Lane): Applicant {
  const isProven = health.lastSuccessAt !== undefined
  return {
    endpointId: endpoint.id,
    organizationId: endpoint.organizationId,
    standing: health.failures > 0 ? 'sluggish' : isProven ? 'prompt' : 'unproven',
  }
}

/** Whether what the lane waits for is due, as the wall's clock says. */
export function isDue({ nextDueAt }: Lane, now: number): boolean {
  return nextDueAt !== undefined && nextDueAt <= now
}

/** How many more may be kept in memory. */
export function roomOf(lane: Lane): number {
  const most = lane.health.failures > 0 ? queueOfFailing : maxQueue
  return Math.max(1, most - lane.queue.length)
}

/** Adapts to how an attempt went: receivers that hang or refuse connections hold few of everybody's places. */
export function adapt(lane: Lane, succeeded: boolean, answered: boolean): void {
  if (succeeded) {
    lane.concurrency = Math.min(lane.concurrency + 1, maxConcurrency)
    lane.pace.succeeded()
  }
  if (!succeeded && !answered) lane.concurrency = 1
}

/** Takes one token of the endpoint's rate; else returns the milliseconds until there is one. */
export function takeToken(lane: Lane, monotonic: number): number | undefined {
  const rate = lane.endpoint.ratePerSecond
  if (rate === undefined) return undefined
  // A second's worth may be saved up: the rate is an average over a second.
  lane.tokens = Math.min(rate, lane.tokens + ((monotonic - lane.tokensAt) * rate) / 1000)
  lane.tokensAt = monotonic
  if (lane.tokens >= 1) {
    lane.tokens -= 1
    return undefined
  }
  return Math.ceil(((1 - lane.tokens) * 1000) / rate)
}
