import { createId } from '../ids.ts'
import { deliveryTimes, type DeliveryTimes, type Store } from '../store/index.ts'

const maxDeliveries = 20_000
const randomPart = 16

/** An endpoint's deliveries in one time step, counted by when their event happened. */
export interface EndpointStep {
  readonly at: number
  readonly delivered: number
  readonly dead: number
  readonly skipped: number
  readonly waiting: number
  /** How many deliveries were pending at the end of the step. */
  readonly backlog: number
  /** From the event to its delivery, including retries; undefined if nothing was delivered. */
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
}

/** The deliveries of an endpoint over time. */
export interface EndpointFigures {
  readonly steps: readonly EndpointStep[]
  /** Whether the range held too many deliveries to count, so that only the newest were counted. */
  readonly isSampled: boolean
}

/** Counts an endpoint's newest 20,000 deliveries in a time range, step by step. */
export async function endpointFigures(
  store: Store,
  organizationId: string,
  range: { endpointId: string; from: number; to: number; stepMs: number },
): Promise<EndpointFigures> {
  const { from, to, stepMs } = range
  const found = await deliveryTimes(store.slowReads, organizationId, {
    endpointId: range.endpointId,
    // Ids grow with time, so a time limit is an id limit, which the index supports.
    fromId: createId('dlv', from).slice(0, -randomPart),
    limit: maxDeliveries + 1,
  })
  const rows = found.slice(0, maxDeliveries).filter(({ createdAt }) => createdAt < to)
  const steps = Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, index) =>
    stepOf(rows, from + index * stepMs, stepMs),
  )
  return { steps, isSampled: found.length > maxDeliveries }
}

function stepOf(rows: readonly DeliveryTimes[], at: number, stepMs: number): EndpointStep {
  const end = at + stepMs
  const counts = { delivered: 0, dead: 0, skipped: 0, waiting: 0 }
  const tookMs: number[] = []
  let backlog = 0
  for (const { createdAt, completedAt, state } of rows) {
    if (createdAt < end && (completedAt === undefined || completedAt >= end)) backlog++
    if (createdAt < at || createdAt >= end) continue
    counts[state === 'pending' ? 'waiting' : state]++
    if (state === 'delivered' && completedAt !== undefined) tookMs.push(completedAt - createdAt)
  }
  tookMs.sort((one, other) => one - other)
  return { at, ...counts, backlog, p50Ms: share(tookMs, 0.5), p95Ms: share(tookMs, 0.95) }
}

function share(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}
