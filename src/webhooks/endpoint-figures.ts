import { idBound } from '../ids.ts'
import { deliveryTimes, type DeliveryTimes, type Store } from '../store/index.ts'

const maxDeliveries = 20_000

/** An endpoint's deliveries that were created in one time step, counted by their present state. */
export interface EndpointStep {
  readonly at: number
  readonly delivered: number
  readonly dead: number
  readonly skipped: number
  readonly waiting: number
  /** How many of the range's deliveries were pending at the end of the step. */
  readonly backlog: number
  /**
   * The median time from a delivery's creation to its success, including retries; undefined if nothing was delivered.
   */
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
}

export interface EndpointFigures {
  readonly steps: readonly EndpointStep[]
  /** Whether the range contained too many deliveries to count, so that only the newest were counted. */
  readonly isSampled: boolean
}

/** Counts an endpoint's deliveries in a time range by time step, at most the newest 20,000. */
export async function endpointFigures(
  store: Store,
  organizationId: string,
  range: { endpointId: string; from: number; to: number; stepMs: number },
): Promise<EndpointFigures> {
  const { from, to } = range
  const found = await deliveryTimes(store.slowReads, organizationId, {
    endpointId: range.endpointId,
    // Ids sort by time, so the bounds in time become bounds of ids, which the index supports.
    fromId: idBound('dlv', from),
    belowId: idBound('dlv', to),
    limit: maxDeliveries + 1,
  })
  const rows = found.slice(0, maxDeliveries)
  return { steps: countInSteps(rows, range), isSampled: found.length > maxDeliveries }
}

/** Counts deliveries by time step in a single pass, because there may be many deliveries and many steps. */
export function countInSteps(
  rows: Iterable<DeliveryTimes>,
  { from, to, stepMs }: { readonly from: number; readonly to: number; readonly stepMs: number },
): EndpointStep[] {
  const parts = Array.from({ length: Math.ceil((to - from) / stepMs) }, emptyStep)
  const stepOf = (ms: number): number => Math.floor((ms - from) / stepMs)
  for (const { createdAt, completedAt, state } of rows) {
    const created = stepOf(createdAt)
    const part = parts[created]
    if (part) part[state === 'pending' ? 'waiting' : state] += 1
    if (part && state === 'delivered' && completedAt !== undefined) {
      part.tookMs.push(completedAt - createdAt)
    }
    // A delivery is in the backlog at the end of each step from its creation to the one before its completion.
    const first = Math.max(created, 0)
    const end =
      completedAt === undefined ? parts.length : Math.min(stepOf(completedAt), parts.length)
    const [began, ended] = [parts[first], parts[end]]
    if (began === undefined || end <= first) continue
    began.backlogChange += 1
    if (ended) ended.backlogChange -= 1
  }
  let backlog = 0
  return parts.map(({ tookMs, backlogChange, ...counts }, index) => {
    backlog += backlogChange
    tookMs.sort((one, other) => one - other)
    const shares = { p50Ms: share(tookMs, 0.5), p95Ms: share(tookMs, 0.95) }
    return { at: from + index * stepMs, ...counts, backlog, ...shares }
  })
}

function emptyStep() {
  const tookMs: number[] = []
  return { delivered: 0, dead: 0, skipped: 0, waiting: 0, tookMs, backlogChange: 0 }
}

function share(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}
